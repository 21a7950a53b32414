//! What is answered at a path of no route: a file, an asset, the page, or that there is nothing.

use std::path::Path;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, VARY, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;
use tower_http::services::ServeFile;

use super::assets;
use super::files::WebDir;
use super::{IndexPage, Web, page};
use crate::app::App;
use crate::error::Problem;
use crate::http::scheme;
use trawl_json::web_assets::write_settings;

/// Paths below which everything that is not there is 404: the page would be taken for an answer.
const NEVER_THE_PAGE: [&str; 8] = ["/api", "/v2/api", "/rpc", "/health", "/metrics", "/docs", "/assets", "/sourcify"];

/// Answers a request that no route takes; 404 without a web page.
pub(crate) async fn serve(app: &App, web: &Web, request: Request) -> Response {
    match web {
        Web::Page => of_program(app, None, &request.into_parts().0).await.unwrap_or_else(IntoResponse::into_response),
        Web::Index(page) => {
            of_program(app, Some(page), &request.into_parts().0).await.unwrap_or_else(IntoResponse::into_response)
        }
        Web::Folder(folder) => of_folder(app, folder, request).await,
        Web::None => Problem::NotFound.into_response(),
    }
}

/// The page that the program holds, and the signatures that it loads.
async fn of_program(app: &App, page: Option<&IndexPage>, request: &Parts) -> Result<Response, Problem> {
    if ![Method::GET, Method::HEAD].contains(&request.method) {
        return Err(Problem::NotFound);
    }
    let path = request.uri.path();
    if let Some(found) = page::answer(path, page, &request.headers, || assets::chain_name(app)) {
        return Ok(found);
    }
    assets::at(app, path).await?.ok_or(Problem::NotFound)
}

async fn of_folder(app: &App, folder: &WebDir, request: Request) -> Response {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Problem::MethodNotAllowed.into_response();
    }
    let mut response = answer(app, folder, request).await.unwrap_or_else(IntoResponse::into_response);
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

async fn answer(app: &App, folder: &WebDir, request: Request) -> Result<Response, Problem> {
    let path = request.uri().path().to_owned();
    if path == "/config.json" {
        return settings(request.headers(), scheme::of_client(request.headers(), request.extensions()));
    }
    if let Some(file) = folder.file(&path).await {
        return file_at(&file, request).await;
    }
    if let Some(asset) = assets::at(app, &path).await? {
        return Ok(asset);
    }
    let is_below =
        |prefix: &&str| path.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if NEVER_THE_PAGE.iter().any(is_below) {
        return Err(Problem::NotFound);
    }
    let mut page = file_at(&folder.index(), request).await?;
    // A cached page would request the assets of an older build.
    page.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(page)
}

/// A file with its type, parts of it, or that it has not changed.
async fn file_at(file: &Path, request: Request) -> Result<Response, Problem> {
    let response = ServeFile::new(file).oneshot(request).await;
    Ok(response.unwrap_or_else(|never| match never {}).map(Body::new))
}

/// The settings of the page, with addresses as the client reaches this server.
fn settings(headers: &HeaderMap, scheme: &str) -> Result<Response, Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST.as_str()).and_then(|host| host.parse::<Authority>().ok()).ok_or(Problem::Malformed)?;
    let json = write_settings(&format!("{scheme}://{host}"));
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store"), (VARY, "host, x-forwarded-proto")];
    Ok((headers, json).into_response())
}
