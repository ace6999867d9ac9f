//! The HTTP server, on the loopback interface only, for one user.

use crate::guard::{Refusal, Token};
use crate::{Address, Runs, assets, question};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, Method, Response, StatusCode, header};
use axum::middleware::{self, Next};
use commsan_profile::api::Error;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::future::Future;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// What the page may do: load its own three files and ask this server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Sent with every response.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Answers smaller than this are sent as they are.
const MIN_COMPRESSED: usize = 1024;

/// How to serve.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// The port; 0 for any that is free.
    pub port: u16,
}

struct Server {
    runs: Runs,
    token: Token,
    port: u16,
}

/// Serves `runs` until Ctrl-C; calls `ready` with the address as soon as it works.
///
/// # Errors
/// When the port is taken, or the system has no more sockets.
pub fn serve(runs: Runs, settings: Settings, ready: impl FnOnce(&Address)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let (socket, interrupt) = (listener.local_addr()?, tokio::signal::ctrl_c());
        let token = Token::random().map_err(io::Error::other)?;
        ready(&Address::new(socket, &host_name(), token.as_str()));
        let until = async {
            // Without a handler there would be no orderly end, but an end there is.
            let _ = interrupt.await;
        };
        run(listener, Server { runs, token, port: socket.port() }, until).await
    })?;
    // A browser that keeps a connection open, or a long answer, must not hold up the end.
    runtime.shutdown_background();
    Ok(())
}

async fn run(
    listener: TcpListener,
    server: Server,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    let server = Arc::new(server);
    let guard = middleware::from_fn_with_state(Arc::clone(&server), guard);
    let router = Router::new().fallback(respond).layer(guard).with_state(server);
    tokio::select! {
        result = axum::serve(listener, router).into_future() => result,
        () = until => Ok(()),
    }
}

/// Lets only those in who may ask, and adds to all responses what they have in common.
async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response<Body> {
    let query = request.uri().query().unwrap_or("");
    let mut response = match server.token.admits(request.headers(), query, server.port) {
        Err(Refusal::Host) => plain(
            StatusCode::MISDIRECTED_REQUEST,
            "commsan answers to 127.0.0.1 and localhost only.\n",
        ),
        Err(Refusal::Token) => plain(
            StatusCode::FORBIDDEN,
            "Open the address that `commsan view` has printed: it carries a token.\n",
        ),
        Ok(()) if request.method() != Method::GET && request.method() != Method::HEAD => plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "There is nothing here to be changed: only GET.\n",
        ),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}

async fn respond(State(server): State<Arc<Server>>, request: Request) -> Response<Body> {
    let path = request.uri().path();
    let Some(question) = path.strip_prefix("/api/") else { return asset(&server, path) };
    let (question, query) = (question.to_owned(), request.uri().query().unwrap_or("").to_owned());
    let query = without_token(&query);
    let packs = accepts_gzip(&request);
    // Some answers take long; others should not wait for them.
    let answer = tokio::task::spawn_blocking(move || {
        let (status, body) = match question::answer(&server.runs, &question, &query) {
            Ok(body) => (StatusCode::OK, body),
            Err(error) => failed(&error),
        };
        packed(status, body, packs)
    });
    answer.await.unwrap_or_else(|_| {
        let what = "This answer has failed; the terminal of `commsan view` says more.";
        let body = serde_json::json!({ "error": what }).to_string();
        response(StatusCode::INTERNAL_SERVER_ERROR, "application/json")
            .body(body.into())
            .unwrap_or_default()
    })
}

fn failed(error: &Error) -> (StatusCode, Vec<u8>) {
    let status = match error {
        Error::Bad(_) => StatusCode::BAD_REQUEST,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
    };
    (status, serde_json::json!({ "error": error.to_string() }).to_string().into_bytes())
}

/// A query as it was meant, where a program gives its token in it.
fn without_token(query: &str) -> String {
    let kept = query.split('&').filter(|pair| !pair.starts_with("token="));
    kept.collect::<Vec<_>>().join("&")
}

fn accepts_gzip(request: &Request) -> bool {
    let accepted = request.headers().get(header::ACCEPT_ENCODING);
    accepted.and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains("gzip"))
}

fn packed(status: StatusCode, body: Vec<u8>, packs: bool) -> Response<Body> {
    let response = response(status, "application/json");
    if !packs || body.len() < MIN_COMPRESSED {
        return response.body(body.into()).unwrap_or_default();
    }
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = packer.write_all(&body).and_then(|()| packer.finish());
    match packed {
        Ok(packed) => response.header(header::CONTENT_ENCODING, "gzip").body(packed.into()),
        Err(_) => response.body(body.into()),
    }
    .unwrap_or_default()
}

fn asset(server: &Server, path: &str) -> Response<Body> {
    let Some(asset) = assets::at(path) else {
        return plain(StatusCode::NOT_FOUND, "There is nothing here; the viewer is at /.\n");
    };
    let mut response = response(StatusCode::OK, asset.media);
    if path == "/" {
        response = response.header(header::SET_COOKIE, server.token.cookie(server.port));
    }
    response.body(asset.body.into()).unwrap_or_default()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    response(status, "text/plain; charset=utf-8").body(text.into()).unwrap_or_default()
}

fn response(status: StatusCode, media: &str) -> axum::http::response::Builder {
    Response::builder().status(status).header(header::CONTENT_TYPE, media)
}

/// This machine's name, as ssh may know it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "HOST".to_owned() } else { name.trim().to_owned() }
}
