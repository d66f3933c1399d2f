import { join } from 'node:path';
import { startServer } from '@langchain/langgraph-api/server';

/**
 * The LangGraph API server as `langgraphjs dev` starts it, with its ten workers, on a graph that answers at once. It is
 * what of it can be run without a licence and a container; it keeps everything in memory, and a file now and then.
 */
const port = Number(process.env.PORT);
await startServer({
  port,
  nWorkers: 10,
  host: '127.0.0.1',
  cwd: process.cwd(),
  graphs: { echo: `${join(import.meta.dirname, 'langgraph-graph.mjs')}:graph` },
});
console.log(`listening at http://127.0.0.1:${port}`);
process.once('SIGTERM', () => process.exit());
