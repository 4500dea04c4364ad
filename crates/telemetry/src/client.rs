//! The HTTP client of the exporter, with a runtime of its own: spans are sent from a thread that has none, and after
//! the host's has ended.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Debug)]
pub(crate) struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: reqwest::Client,
    runtime: Mutex<Option<Runtime>>,
    failure: Mutex<Option<String>>,
}

impl Client {
    pub(crate) fn new(timeout: Duration) -> Result<Self, Box<dyn Error>> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("telemetry")
            .enable_all()
            .build()?;
        // A collector that answers with a redirect is a wrong address, and the spans are not for whoever it names.
        let http = reqwest::Client::builder()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self(Arc::new(Inner {
            http,
            runtime: Mutex::new(Some(runtime)),
            failure: Mutex::default(),
        })))
    }

    /// What went wrong last, when the last delivery failed. The exporter itself keeps that to itself.
    pub(crate) fn failure(&self) -> Option<String> {
        self.0
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn stop(&self) {
        let runtime = self
            .0
            .runtime
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(runtime) = runtime {
            runtime.shutdown_background();
        }
    }

    async fn send(http: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let (head, body) = request.into_parts();
        let reply = http
            .request(head.method, head.uri.to_string())
            .headers(head.headers)
            .body(body)
            .send()
            .await?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = reply.status();
        *response.headers_mut() = reply.headers().clone();
        *response.body_mut() = reply.bytes().await?;
        Ok(response)
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let work = {
            let runtime = self.0.runtime.lock().unwrap_or_else(PoisonError::into_inner);
            let runtime = runtime.as_ref().ok_or("the exporter has stopped")?;
            runtime.spawn(Self::send(self.0.http.clone(), request))
        };
        let answer = match work.await? {
            Ok(response) => Ok(response),
            Err(error) => Err(in_full(&error)),
        };
        let failure = match &answer {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answered {}", response.status())),
            Err(why) => Some(why.clone()),
        };
        *self.0.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        Ok(answer?)
    }
}

/// An error with its causes: the outermost alone says only that sending failed.
fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
