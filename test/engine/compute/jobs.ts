import { computeJob } from '../../../src/core/compute.ts';

/** Jobs for tests of the compute thread. */

export function double(value: number): number {
  return 2 * value;
}

export function refuse(message: string): never {
  throw new Error(message);
}

export function leave(): never {
  process.exit();
}

export function fill(): never {
  for (const all: number[][] = []; ; ) all.push(Array.from({ length: 1_000 }, () => 1.5));
}

export function wait(flag: Int32Array): string {
  Atomics.wait(flag, 0, 0);
  return 'waited';
}

export const doubleJob = computeJob(import.meta.url, double);
export const refuseJob = computeJob(import.meta.url, refuse);
export const leaveJob = computeJob(import.meta.url, leave);
export const fillJob = computeJob(import.meta.url, fill);
export const waitJob = computeJob(import.meta.url, wait);
