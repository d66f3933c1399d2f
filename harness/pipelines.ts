import type { Connection } from '../src/db/connection.ts';
import { openPipelines, type Pipelines, type Send } from '../src/db/pipeline.ts';
import type { Statement } from '../src/db/statement.ts';
import type { Value } from '../src/db/value.ts';

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
  watch: (sent: SentStatement) => Statement<void, unknown> | undefined,
): Send {
  return ((statement: Statement<unknown, unknown>, input?: unknown) => {
    const { name, text } = statement;
    const other = watch({ name, text, values: statement.values(input) });
    return other ? send(other) : send(statement, input);
  }) as Send;
}

/** A statement with numbered parameters, whose input are their values. */
export function numbered<Row = Record<string, unknown>>(
  name: string,
  text: string,
): Statement<void, Row> & Statement<readonly Value[], Row> {
  return { name, text, values: (given?: unknown) => [...((given ?? []) as Value[])] };
}
