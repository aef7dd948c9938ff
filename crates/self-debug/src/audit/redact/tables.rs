//! What counts as a secret, as data: names of keys, shapes of tokens, addresses.
//!
//! A new provider is a line here; the tests plant one token of every line.

/// Which characters the part of a token after its prefix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Letters, digits, `_` and `-`.
    Word,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_`, `-`, `.`, `+`, `/`, `=`, `~`.
    Token,
}

impl Alphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Word => is_word(byte),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Token => is_word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~'),
        }
    }
}

/// Whether a byte belongs to a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A family of tokens that is known by its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// How the token begins, exactly.
    pub(crate) prefix: &'static str,
    /// What follows.
    pub(crate) alphabet: Alphabet,
    /// How many characters follow at least.
    pub(crate) least: usize,
    /// Whether what follows must look random, because the prefix also begins plain words.
    pub(crate) random: bool,
}

const fn word(prefix: &'static str, least: usize) -> Shape {
    Shape {
        prefix,
        alphabet: Alphabet::Word,
        least,
        random: false,
    }
}

const fn random(prefix: &'static str, least: usize) -> Shape {
    Shape {
        random: true,
        ..word(prefix, least)
    }
}

const fn upper(prefix: &'static str, least: usize) -> Shape {
    Shape {
        alphabet: Alphabet::Upper,
        ..word(prefix, least)
    }
}

const fn token(prefix: &'static str, least: usize) -> Shape {
    Shape {
        alphabet: Alphabet::Token,
        ..word(prefix, least)
    }
}

/// Tokens that are known by their shape, wherever they stand.
pub(crate) const SHAPES: &[Shape] = &[
    // Model providers.
    random("sk-", 16),
    random("csk-", 16),
    word("gsk_", 20),
    word("hf_", 30),
    random("api_org_", 24),
    random("xai-", 20),
    random("pplx-", 20),
    random("nvapi-", 20),
    random("fw_", 20),
    word("r8_", 20),
    random("tvly-", 16),
    word("lsv2_", 20),
    random("pcsk_", 20),
    // Code hosts and registries.
    word("ghp_", 20),
    word("gho_", 20),
    word("ghu_", 20),
    word("ghs_", 20),
    word("ghr_", 20),
    word("github_pat_", 20),
    word("glpat-", 16),
    word("glptt-", 16),
    word("gldt-", 16),
    word("glrt-", 16),
    word("glcbt-", 16),
    word("ATBB", 24),
    word("ATATT3", 24),
    random("npm_", 30),
    word("pypi-AgEI", 20),
    word("rubygems_", 32),
    random("cio", 32),
    word("dckr_pat_", 20),
    word("dckr_oat_", 20),
    random("oy2", 40),
    // Clouds.
    upper("AKIA", 16),
    upper("ASIA", 16),
    upper("ABIA", 16),
    upper("ACCA", 16),
    word("AIza", 30),
    token("ya29.", 20),
    word("GOCSPX-", 20),
    random("dapi", 32),
    word("dop_v1_", 32),
    word("doo_v1_", 32),
    word("dor_v1_", 32),
    random("HRKU-", 20),
    token("fo1_", 20),
    token("fm2_", 20),
    random("nfp_", 20),
    random("sbp_", 20),
    random("sb_secret_", 16),
    word("pscale_tkn_", 20),
    word("pscale_pw_", 20),
    token("dp.pt.", 20),
    token("dp.st.", 20),
    random("tskey-", 16),
    token("hvs.", 20),
    token("hvb.", 20),
    word("ops_eyJ", 20),
    upper("AGE-SECRET-KEY-1", 40),
    // Money.
    word("sk_live_", 16),
    word("sk_test_", 16),
    word("rk_live_", 16),
    word("rk_test_", 16),
    random("whsec_", 20),
    word("sq0atp-", 20),
    word("sq0csp-", 20),
    word("shpat_", 24),
    word("shpca_", 24),
    word("shppa_", 24),
    word("shpss_", 24),
    // Messages and mail.
    word("xoxb-", 16),
    word("xoxp-", 16),
    word("xoxa-", 16),
    word("xoxr-", 16),
    word("xoxs-", 16),
    word("xoxe-", 16),
    word("xapp-", 16),
    token("SG.", 30),
    random("xkeysib-", 32),
    // Tools of teams.
    word("lin_api_", 24),
    word("ntn_", 30),
    random("secret_", 32),
    word("figd_", 24),
    word("PMAK-", 24),
    word("NRAK-", 20),
    word("glsa_", 24),
    word("sntrys_", 24),
    random("phx_", 24),
];

/// Names of keys whose value is a secret: the last words of the name, folded together.
///
/// `db_password`, `userPassword` and `DB-PASSWORD` all end with `password`.
pub(super) const KEY_ENDINGS: &[&str] = &[
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "apitoken",
    "apisecret",
    "accesskey",
    "accesstoken",
    "accountkey",
    "authkey",
    "authtoken",
    "authcode",
    "authorization",
    "authorizationcode",
    "authentication",
    "backupcode",
    "bearertoken",
    "bottoken",
    "cardnumber",
    "ccnumber",
    "clientsecret",
    "connectionstring",
    "credential",
    "csrftoken",
    "dbpass",
    "deploykey",
    "encryptionkey",
    "idtoken",
    "jsessionid",
    "licensekey",
    "masterkey",
    "mfacode",
    "mnemonic",
    "onetimecode",
    "otpcode",
    "phpsessid",
    "pincode",
    "privatekey",
    "recoverycode",
    "refreshtoken",
    "secretkey",
    "securitycode",
    "securitytoken",
    "seedphrase",
    "sessionkey",
    "sessiontoken",
    "sharedkey",
    "smtppass",
    "signingkey",
    "sshkey",
    "subscriptionkey",
    "userpass",
    "verificationcode",
    "webhooksecret",
    "xsrftoken",
];

/// Words that make a key secret when they are its last word; within other words they mean nothing.
pub(super) const KEY_WORDS: &[&str] = &[
    "bearer", "cookie", "cookies", "cvc", "cvv", "dsn", "jwt", "otp", "pwd", "secret", "secrets",
    "token", "totp",
];

/// The same, but only for what is surely a key: before a colon in prose they mean other things.
pub(super) const LOOSE_KEY_WORDS: &[&str] = &["auth", "pass", "passwords", "pat", "pw", "sid"];

/// Last words of a key that say more about the secret before them: `password_confirmation`.
pub(super) const KEY_QUALIFIERS: &[&str] = &[
    "again",
    "base64",
    "bytes",
    "confirm",
    "confirmation",
    "current",
    "hash",
    "header",
    "hex",
    "id",
    "new",
    "old",
    "pem",
    "plain",
    "repeat",
    "string",
    "text",
    "val",
    "value",
];

/// Folded names that end like a secret and are none: places in a list, parts of a grammar.
pub(super) const HARMLESS_KEYS: &[&str] = &[
    "bostoken",
    "continuationtoken",
    "cursortoken",
    "endtoken",
    "eostoken",
    "expectedtoken",
    "firsttoken",
    "lasttoken",
    "masktoken",
    "nextpagetoken",
    "nexttoken",
    "padtoken",
    "pagetoken",
    "pagingtoken",
    "prevtoken",
    "previoustoken",
    "startingtoken",
    "starttoken",
    "stoptoken",
    "synctoken",
    "tokenid",
    "unexpectedtoken",
    "unktoken",
];

/// Parameters of a URL's query that are secret there, though harmless elsewhere.
pub(super) const QUERY_KEYS: &[&str] = &[
    "code",
    "key",
    "sig",
    "signature",
    "xamzcredential",
    "xamzsignature",
    "xgoogcredential",
    "xgoogsignature",
];

/// Addresses whose path is the secret, after `://`.
pub(super) const SECRET_ADDRESSES: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "outlook.office.com/webhook/",
    "hooks.zapier.com/hooks/catch/",
];

/// Words after which a token follows in an authorization header, and how long it is at least: the
/// plainer the word, the longer.
pub(super) const SCHEMES: &[(&str, usize)] = &[
    ("bearer", 8),
    ("basic", 12),
    ("negotiate", 12),
    ("token", 12),
];

/// Keys whose value is the rest of the line.
pub(super) const LINE_KEYS: &[&str] =
    &["authorization", "proxyauthorization", "cookie", "setcookie"];

/// Values that tell nothing: no secret, but a literal or a type in source text.
pub(super) const PLAIN_VALUES: &[&str] = &[
    "&'static str",
    "&str",
    "Any",
    "False",
    "None",
    "Option",
    "Optional",
    "Optional[str]",
    "SecretString",
    "String",
    "True",
    "any",
    "bool",
    "boolean",
    "false",
    "int",
    "integer",
    "null",
    "number",
    "object",
    "str",
    "string",
    "true",
    "undefined",
];

/// First words of a diagnosis after the name of a secret: `password: must be a string`.
pub(super) const DIAGNOSES: &[&str] = &[
    "cannot",
    "can't",
    "expected",
    "expired",
    "failed",
    "field",
    "input",
    "invalid",
    "is",
    "missing",
    "must",
    "needs",
    "not",
    "required",
    "should",
    "too",
    "unexpected",
    "unknown",
    "value",
    "was",
    "wrong",
];

/// Words that follow the name of a command-line flag in prose.
pub(super) const AFTER_FLAG: &[&str] = &[
    "and", "argument", "as", "flag", "for", "from", "in", "is", "must", "of", "on", "option", "or",
    "to", "was", "with",
];
