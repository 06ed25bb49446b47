# Recomputes the literal H1 and the adjusted H3 from a scores.csv with base R alone, so that a second tool confirms them.
#
#   Rscript examples/rerun_hypotheses.R examples/scores.csv
#   Rscript examples/rerun_hypotheses.R examples/scores.csv expected.csv      (expected.csv: rerun_hypotheses.py --csv)
#
# H1: SS_I is the difference of two least-squares fits (lm, anova); session labels are permuted within each malfunction,
# all of them where they are few, else 1999 times. H3: every assignment of the pooled scores (combn), then p.adjust.
# With a second table it compares: exact numbers to 1e-9, Monte Carlo p-values to 5 standard errors; the exit code says.

reserved <- c("no-method", "cheat-oracle", "optimal-repair", "placebo")
draws <- 1999
few <- 20000
winsor.floor <- -1
tie <- 1e-9

stop.with <- function(...) {
  message("rerun_hypotheses.R: ", ...)
  quit(status = 1)
}

read.scores <- function(path) {
  if (!file.exists(path)) stop.with(path, ": no such file")
  table <- read.csv(path, stringsAsFactors = FALSE, check.names = FALSE)
  lacking <- setdiff(c("malfunction", "method", "replication", "raw"), names(table))
  if (length(lacking) > 0) stop.with(path, ": no column ", paste(lacking, collapse = ", "))
  if (!is.numeric(table$raw) || any(!is.finite(table$raw))) stop.with(path, ": a raw score is not a finite number")
  simple <- !(table$method %in% reserved) & !grepl("[+]|-minimal$|-rich$", table$method)
  if (!any(simple)) stop.with(path, ": no explanation method")
  for (column in intersect(c("coder", "invocations"), names(table))) {
    if (length(unique(table[simple, column])) > 1) stop.with(path, ": several strata; leave one ", column)
  }
  table$simple <- simple
  table[order(table$malfunction, table$method, table$replication), ]
}

# The number of ways to give the labels of one malfunction to its sessions.
arrangements.of <- function(labels) {
  counts <- table(labels)
  exp(lgamma(length(labels) + 1) - sum(lgamma(counts + 1)))
}

# Every way to give the labels of one malfunction to its sessions, one per column.
arrange.all <- function(labels) {
  if (length(labels) == 0) return(matrix(character(0), 0, 1))
  parts <- lapply(unique(labels), function(first) {
    rest <- arrange.all(labels[-match(first, labels)])
    rbind(matrix(first, 1, ncol(rest)), rest)
  })
  do.call(cbind, parts)
}

# SS_I for scores in the columns of `scores`, all with the same design.
interaction.squares <- function(scores, additive, cells) {
  colSums(qr.resid(additive, scores)^2) - colSums(qr.resid(cells, scores)^2)
}

h1 <- function(table, scale) {
  data <- table[table$simple, ]
  y <- if (scale == "clipped") pmin(1, pmax(0, data$raw)) else pmax(winsor.floor, data$raw)
  method <- factor(data$method)
  malfunction <- factor(data$malfunction)
  if (nlevels(method) < 2 || nlevels(malfunction) < 2) return(NULL)
  cell <- interaction(method, malfunction, drop = TRUE)
  observed <- anova(lm(y ~ method + malfunction), lm(y ~ cell))[2, "Sum of Sq"]
  additive <- qr(model.matrix(~ method + malfunction))
  cells <- qr(model.matrix(~ cell))
  groups <- split(seq_along(y), malfunction)
  total <- prod(sapply(groups, function(group) arrangements.of(data$method[group])))
  if (total <= few) {
    # Labels move over scores; the design stays, so scores move to where their label's places are.
    moves <- lapply(groups, function(group) {
      labels <- data$method[group]
      apply(arrange.all(labels), 2, function(given) group[order(given)][order(order(labels))])
    })
    grid <- expand.grid(lapply(moves, function(move) seq_len(ncol(move))))
    places <- sapply(seq_len(nrow(grid)), function(row) {
      from <- integer(length(y))
      for (k in seq_along(groups)) from[groups[[k]]] <- moves[[k]][, grid[row, k]]
      from
    })
    squares <- interaction.squares(matrix(y[places], length(y)), additive, cells)
    p <- mean(squares >= observed * (1 - tie))
    error <- NA
  } else {
    set.seed(1)
    places <- replicate(draws, {
      from <- seq_along(y)
      for (group in groups) from[group] <- group[sample.int(length(group))]
      from
    })
    squares <- interaction.squares(matrix(y[places], length(y)), additive, cells)
    p <- (1 + sum(squares >= observed * (1 - tie))) / (draws + 1)
    error <- sqrt(p * (1 - p) / (draws + 1))
  }
  data.frame(
    question = "h1", scale = scale, method = "", malfunction = "",
    quantity = c("ss_interaction", "literal_p"), value = c(observed, p), error = c(NA, error)
  )
}

# P(sum of the method's scores at most as large as observed) over every assignment of the pooled scores.
permutation.p <- function(ours, theirs) {
  pool <- c(ours, theirs)
  chosen <- combn(length(pool), length(ours))
  sums <- colSums(matrix(pool[chosen], length(ours)))
  mean(sums <= sum(ours) + tie * max(1, abs(pool)))
}

h3 <- function(table) {
  scores <- pmax(winsor.floor, table$raw)
  methods <- sort(unique(table$method[table$simple]))
  cells <- expand.grid(
    method = methods, malfunction = sort(unique(table$malfunction)), stringsAsFactors = FALSE
  )
  cells$p <- mapply(function(method, malfunction) {
    here <- table$malfunction == malfunction
    ours <- scores[here & table$method == method]
    theirs <- scores[here & table$method == "no-method"]
    if (length(ours) == 0 || length(theirs) == 0) return(NA)
    if (choose(length(ours) + length(theirs), length(ours)) > 5e6) return(NA)
    permutation.p(ours, theirs)
  }, cells$method, cells$malfunction)
  # Cells without a p-value stay members of the family.
  cells$adjusted <- p.adjust(cells$p, method = "BH", n = nrow(cells))
  rows <- function(quantity, value) data.frame(
    question = "h3", scale = "raw", method = cells$method, malfunction = cells$malfunction,
    quantity = quantity, value = value, error = NA
  )
  all <- rbind(rows("p", cells$p), rows("p_adjusted", cells$adjusted))
  all[!is.na(all$value), ]
}

compare <- function(ours, path) {
  expected <- read.csv(path, stringsAsFactors = FALSE, colClasses = c(method = "character", malfunction = "character"))
  keys <- c("question", "scale", "method", "malfunction", "quantity")
  expected[keys][is.na(expected[keys])] <- ""
  both <- merge(ours, expected, by = keys, suffixes = c(".r", ".evalxrl"), all = TRUE)
  drawn <- !is.na(both$error.r) | !is.na(both$error.evalxrl)
  squares <- function(error) ifelse(is.na(error), 0, error^2)
  allowed <- ifelse(
    drawn,
    5 * sqrt(squares(both$error.r) + squares(both$error.evalxrl)) + 1 / (draws + 1),
    1e-9 * pmax(1, abs(both$value.evalxrl))
  )
  both$agrees <- !is.na(both$value.r) & !is.na(both$value.evalxrl) &
    abs(both$value.r - both$value.evalxrl) <= allowed
  exact <- both[!drawn, ]
  message(
    sum(both$agrees), " of ", nrow(both), " numbers agree; largest difference of an exact one: ",
    format(max(0, abs(exact$value.r - exact$value.evalxrl), na.rm = TRUE), digits = 3)
  )
  if (!all(both$agrees)) {
    write.csv(both[!both$agrees, ], stderr(), row.names = FALSE)
    quit(status = 1)
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (!(length(arguments) %in% 1:2)) stop.with("usage: Rscript rerun_hypotheses.R scores.csv [expected.csv]")
scores <- read.scores(arguments[1])
found <- rbind(h1(scores, "clipped"), h1(scores, "raw"), if (any(scores$method == "no-method")) h3(scores))
printed <- found
printed$value <- format(printed$value, digits = 15, trim = TRUE)
write.csv(printed, stdout(), row.names = FALSE, quote = FALSE, na = "")
if (length(arguments) == 2) compare(found, arguments[2])
