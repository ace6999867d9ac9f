//! Access control: a request needs the token and this machine's name as its host.
//!
//! Other users of a login node can reach the port; they do not know the token. Web pages in the
//! user's own browser can reach it, too: their requests carry no cookie (SameSite), and a page
//! whose name was made to lead here (DNS rebinding) says that name in its Host header.

use axum::http::{HeaderMap, header};

/// What a token is sent in by programs; browsers have a cookie.
pub const HEADER: &str = "x-commsan-token";

/// A random token.
#[derive(Clone, Debug)]
pub struct Token(String);

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It was sent to another host's name.
    Host,
    /// It does not carry the token.
    Token,
}

impl Token {
    /// A new one, of 128 random bits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(Token(bits.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// As it is in addresses.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the cookie: browsers keep cookies by host, but not by port.
    fn cookie_name(port: u16) -> String {
        format!("commsan-{port}")
    }

    /// What makes a browser send the token with all that it asks from now on.
    pub fn cookie(&self, port: u16) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", Token::cookie_name(port), self.0)
    }

    /// Whether a request with these headers and this query may be answered.
    ///
    /// # Errors
    /// When it may not, and why.
    pub fn admits(&self, headers: &HeaderMap, query: &str, port: u16) -> Result<(), Refusal> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
        if !is_local(host) {
            return Err(Refusal::Host);
        }
        let given = in_header(headers).or_else(|| in_query(query));
        let given = given.or_else(|| in_cookie(headers, &Token::cookie_name(port)));
        given.filter(|given| self.is(given)).map(|_| ()).ok_or(Refusal::Token)
    }

    /// Compares without telling by time how far it got.
    fn is(&self, given: &str) -> bool {
        let differences = self.0.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == given.len() && differences == 0
    }
}

/// Any port: the local end of an ssh tunnel may have another one.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

fn in_header(headers: &HeaderMap) -> Option<String> {
    headers.get(HEADER)?.to_str().ok().map(str::to_owned)
}

fn in_query(query: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(name, _)| name == "token").map(|(_, value)| value.into_owned())
}

fn in_cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|line| line.split("; ")).filter_map(|pair| pair.split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, value)| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn tokens_in_header_query_and_cookie_are_known() {
        let token = Token("abc".into());
        let local = ("host", "127.0.0.1:8000");
        let admits = |pairs: &[_], query| token.admits(&headers(pairs), query, 8000);
        assert_eq!(admits(&[local, (HEADER, "abc")], ""), Ok(()));
        assert_eq!(admits(&[local], "token=abc"), Ok(()));
        assert_eq!(admits(&[local, ("cookie", "a=b; commsan-8000=abc")], ""), Ok(()));
        assert_eq!(admits(&[local, ("cookie", "commsan-9000=abc")], ""), Err(Refusal::Token));
        assert_eq!(admits(&[local], "token=abcd"), Err(Refusal::Token));
        assert_eq!(admits(&[local], "token=ab"), Err(Refusal::Token));
        assert_eq!(admits(&[local], ""), Err(Refusal::Token));
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let token = Token("abc".into());
        let admits = |host: &str| token.admits(&headers(&[("host", host)]), "token=abc", 8000);
        for host in ["127.0.0.1:8000", "localhost:9999", "localhost", "[::1]:8000"] {
            assert_eq!(admits(host), Ok(()), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:8000", "", "localhost:80:evil"] {
            assert_eq!(admits(host), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn tokens_differ() {
        let [a, b] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_eq!(a.as_str().len(), 32);
        assert!(!a.is(b.as_str()));
    }
}
