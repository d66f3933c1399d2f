import type { Connection } from '../src/store/connection/detect-pooler.ts';
import { openPipelines, type Pipelines } from '../src/store/connection/pipeline.ts';

/** Pipelines of a test's own, as patient as a slow machine asks for. Whoever opens them closes them. */
export function testPipelines(connection: Connection, connectionsMax = 10): Pipelines {
  return openPipelines({
    connection,
    connectionsMax,
    responseTimeoutMs: 30_000,
    onError: () => {},
  });
}
