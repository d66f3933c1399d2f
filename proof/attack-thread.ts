import { parentPort, workerData } from 'node:worker_threads';
import { type AttackTarget, attacks } from './attacks.ts';

/** The callers of one attack, in a thread of their own: what they cost must not delay the calls that are measured. */

export interface AttackThread {
  readonly name: string;
  readonly target: AttackTarget;
}

const { name, target } = workerData as AttackThread;
const attack = attacks.find((one) => one.name === name);
if (!attack) throw new Error(`There is no attack ${name}.`);
let isOn = true;
parentPort?.once('message', () => {
  isOn = false;
});
await Promise.all(
  Array.from({ length: attack.callers }, async () => {
    // Some attacks end in a closed connection.
    while (isOn) await attack.send(target).catch(() => {});
  }),
);
