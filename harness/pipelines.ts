import type { Connection } from '../src/store/connection/detect-pooler.ts';
import { openPipelines, type Pipelines } from '../src/store/connection/pipeline.ts';

/** Pipelines for a test, with time limits for a slow machine. The caller closes them. */
export function testPipelines(connection: Connection, connectionsMax = 10): Pipelines {
  return openPipelines({
    connection,
    connectionsMax,
    responseTimeoutMs: 30_000,
    onError: () => {},
  });
}
