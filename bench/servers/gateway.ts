import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../harness/free-port.ts';

/** Portkey's gateway as its package starts it. It forwards calls and stores nothing. */

const port = await freePort();
process.argv.push('--headless', `--port=${port}`);
// The package has no types.
await import('@portkey-ai/gateway/build/start-server.js' as string);
while (!(await accepts())) await delay(20);
console.log(`http://127.0.0.1:${port}`);
process.once('SIGTERM', () => process.exit());

function accepts(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
