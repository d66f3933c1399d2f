import type { Connection } from '../src/db/detect-pooler.ts';
import {
  openPipelines,
  type Pipelines,
  type PlainStatement,
  type Send,
  type Value,
} from '../src/db/pipeline.ts';
import type { Statement } from '../src/db/statement.ts';

/** Pipelines for a test, with time limits for a slow machine. The caller closes them. */
export function testPipelines(connection: Connection, connectionsMax = 10): Pipelines {
  return openPipelines({
    connection,
    connectionsMax,
    responseTimeoutMs: 30_000,
    onError: () => {},
  });
}

export interface SentStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
}

/** A sender whose statements pass `watch`, which may send another one instead. */
export function watchedSend(
  send: Send,
  watch: (sent: SentStatement) => PlainStatement | undefined,
): Send {
  return ((statement: PlainStatement | Statement<unknown, unknown>, input?: unknown) => {
    const values = 'values' in statement ? statement.values(input) : (input as Value[]);
    const other = watch({ name: statement.name, text: statement.text, values: values ?? [] });
    return other ? send(other) : send(statement as PlainStatement, input as Value[]);
  }) as Send;
}
