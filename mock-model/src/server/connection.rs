//! Connections that a handler can break: a reset in place of a response.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};

/// A handler's hold on its connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Connection(Arc<AtomicBool>);

impl Connection {
    /// From the next write on the connection is broken, and the client sees a reset.
    pub(super) fn break_off(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_broken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Accepts connections that can be broken.
pub(super) struct Breakable(pub(super) TcpListener);

impl Listener for Breakable {
    type Io = Stream;
    type Addr = Connection;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, _): (TcpStream, SocketAddr) = Listener::accept(&mut self.0).await;
        // Replies are a write each; waiting for more to send would cost every client a delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let connection = Connection::default();
        (Stream { stream, connection: connection.clone() }, connection)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(Connection::default())
    }
}

impl Connected<IncomingStream<'_, Breakable>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Breakable>) -> Self {
        stream.remote_addr().clone()
    }
}

/// A connection that writes until it is broken.
pub(super) struct Stream {
    stream: TcpStream,
    connection: Connection,
}

impl Stream {
    /// Fails once the connection is broken; without lingering, closing it is a reset.
    fn check(&self) -> io::Result<()> {
        if self.connection.is_broken() {
            self.stream.set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
