import type pg from 'pg';

/**
 * Sends lines to a `copy … from stdin`, as fast as the database takes them and no faster. Stops between two pieces when
 * the signal says so: then the statement fails and what it wrote is undone.
 */
export function copyIn(
  client: pg.Client,
  statement: string,
  lines: Iterable<string>,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const pieces = inPieces(lines);
    let failure: Error | null = null;
    const copy = {
      submit: (connection: pg.Connection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        const send = () => {
          if (failure) return;
          if (signal?.aborted) return connection.sendCopyFail('interrupted');
          let piece: IteratorResult<Buffer>;
          try {
            piece = pieces.next();
          } catch (error) {
            return connection.sendCopyFail(String(error));
          }
          if (piece.done) return connection.endCopyFrom();
          connection.sendCopyFromChunk(piece.value);
          const { stream } = connection;
          // In both cases others get their turn: signals, and the connections beside this one.
          if (stream.writableNeedDrain) stream.once('drain', send);
          else setImmediate(send);
        };
        send();
      },
      handleError(error: Error) {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => resolve(),
      handleRowDescription() {},
      handleDataRow() {},
      handleCommandComplete() {},
      handleEmptyQuery() {},
      handlePortalSuspended() {},
    };
    client.query(copy);
  });
}

/** What the types of `pg` leave out. */
interface CopyConnection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(reason: string): void;
  endCopyFrom(): void;
}

const pieceBytes = 262_144;

/** The lines hold nothing but ASCII. */
function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = Buffer.allocUnsafe(pieceBytes);
  let used = 0;
  for (const line of lines) {
    if (used + line.length > pieceBytes) {
      yield piece.subarray(0, used);
      used = 0;
      if (line.length > piece.length) piece = Buffer.allocUnsafe(line.length);
    }
    used += piece.write(line, used, 'latin1');
  }
  if (used > 0) yield piece.subarray(0, used);
}
