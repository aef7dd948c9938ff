"""Serves a model over the OpenAI protocol on this machine, until it is terminated."""
import argparse
import signal
import sys

import xllamacpp

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("model", help="a .gguf file")
options.add_argument("--port", type=int, required=True)
options.add_argument("--threads", type=int, default=2)
options = options.parse_args()

params = xllamacpp.CommonParams()
params.model.path = options.model
params.hostnames = ["127.0.0.1"]
params.port = options.port
params.n_ctx = 4096
params.n_parallel = 1
params.use_jinja = True
params.ui = False
params.cpuparams.n_threads = options.threads
params.cpuparams_batch.n_threads = options.threads

server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
signal.pause()
