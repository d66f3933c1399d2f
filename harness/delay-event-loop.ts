/**
 * Preloaded under `--stress`: this process stops now and then, as if another one had its core. Mostly for a few
 * milliseconds, seldom for half a second, without computing.
 */

const everyMs = 50;
const stops = new Int32Array(new SharedArrayBuffer(4));

setInterval(() => {
  const draw = Math.random();
  Atomics.wait(stops, 0, 0, draw < 0.01 ? 500 : draw < 0.2 ? 40 : 4);
}, everyMs).unref();
