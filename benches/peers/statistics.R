# Score test, bootstrap and power from base R, for the tables and truths that statistics.py prints.
# usage: Rscript statistics.R
margin <- 0.02
alpha <- 0.05

score <- function(n, gain, loss, d) {
  low <- max(0, -d); high <- (1 - d) / 2
  part <- function(count, p) if (count > 0) count * log(max(p, 1e-300)) else 0
  cost <- function(q) -(part(loss, q) + part(gain, q + d) + part(n - loss - gain, 1 - 2 * q - d))
  q <- optimize(cost, c(low, high), tol = 1e-13)$minimum
  (gain - loss - n * d) / sqrt(n * (2 * q + d * (1 - d)))
}

# Conditioned on the number of discordant draws.
bootstrap <- function(n, gain, loss) {
  if (gain + loss == 0) return(0)
  m <- 0:n
  k <- floor(-margin * n + 1e-9)
  sum(dbinom(m, n, (gain + loss) / n) * pbinom(floor((k + m) / 2), m, gain / (gain + loss)))
}

closed <- function(n, gain, loss, d) {
  b <- -(gain + loss) + (2 * n - gain + loss) * d
  q <- (sqrt(pmax(b^2 + 8 * n * loss * d * (1 - d), 0)) - b) / (4 * n)
  (gain - loss - n * d) / sqrt(n * (2 * q + d * (1 - d)))
}

power <- function(n, psi, difference) {
  total <- 0
  for (m in 0:n) {
    weight <- dbinom(m, n, psi)
    if (weight < 1e-15) next
    passing <- which(closed(n, 0:m, m:0, -margin) >= qnorm(1 - alpha))
    if (length(passing)) total <- total + weight * pbinom(passing[1] - 2, m, (psi + difference) / 2 / psi, lower.tail = FALSE)
  }
  total
}

tables <- list(c(920, 5, 0, 75), c(870, 30, 50, 50), c(988, 12, 0, 0), c(1780, 48, 40, 4), c(190, 3, 4, 3))
for (cells in tables) {
  n <- sum(cells)
  ms <- system.time(p <- pnorm(score(n, cells[3], cells[2], -margin), lower.tail = FALSE))[["elapsed"]] * 1000
  cat(sprintf("score p      %-18s %.9f  %.1f ms\n", paste(cells, collapse = ","), p, ms))
  ms <- system.time(p <- bootstrap(n, cells[3], cells[2]))[["elapsed"]] * 1000
  cat(sprintf("bootstrap p  %-18s %.9f  %.1f ms\n", paste(cells, collapse = ","), p, ms))
}
for (n in c(1000, 2000)) {
  ms <- system.time(p <- power(n, 0.05, 0))[["elapsed"]] * 1000
  cat(sprintf("power        n=%d psi=0.05     %.9f  %.1f ms\n", n, p, ms))
}
