//! A small HTTP server that answers as it is told, also in ways that no library offers.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is sent back for one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A status, further header lines, and a body.
    Full(u16, &'static str, String),
    /// Headers that promise more than is sent.
    CutBody,
    /// Nothing, for ever.
    Silence,
}

/// A chat completion with this text.
pub(crate) fn completion(text: &str) -> Reply {
    let body = json!({
        "model": "test-model",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    Reply::Full(200, "", body.to_string())
}

/// An answer with these candidates: arguments and confidence.
pub(crate) fn candidates(list: &[(Value, f64)]) -> Reply {
    let list: Vec<Value> = list
        .iter()
        .map(|(arguments, confidence)| {
            json!({"rationale": "so", "arguments": arguments, "confidence": confidence})
        })
        .collect();
    completion(&json!({"candidates": list, "give_up": false, "reason": ""}).to_string())
}

pub(crate) fn error(status: u16, body: &Value) -> Reply {
    Reply::Full(status, "", body.to_string())
}

/// A running server. It ends with its runtime.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Server {
    /// A server that gives these replies in turn, the last one again and again.
    pub(crate) async fn start(replies: impl Into<Vec<Reply>>) -> Self {
        let replies = replies.into();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, replies) = (Arc::clone(&seen), replies.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, &seen, &replies).await;
                });
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    replies: &[Reply],
) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let reply = {
        let mut seen = seen.lock().unwrap();
        let index = seen.len().min(replies.len() - 1);
        seen.push(request);
        replies[index].clone()
    };
    match reply {
        Reply::Full(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n{headers}\r\n"
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body.as_bytes()).await
        }
        Reply::CutBody => {
            let text = "HTTP/1.1 200 X\r\ncontent-length: 500\r\n\r\n{\"choices\": [{\"mess";
            stream.write_all(text.as_bytes()).await
        }
        Reply::Silence => std::future::pending().await,
    }
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let head_end = loop {
        let count = stream.read(&mut buffer).await?;
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.trim().parse().unwrap());
    while bytes.len() < head_end + length {
        let count = stream.read(&mut buffer).await?;
        bytes.extend_from_slice(&buffer[..count]);
    }
    Ok(Request {
        head,
        body: serde_json::from_slice(&bytes[head_end..]).unwrap_or_default(),
    })
}
