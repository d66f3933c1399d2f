import { type Logger, pino } from 'pino';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/** JSON lines on standard error: standard output is for what a command answers. */
export function openLog(level: LogLevel): Log {
  return pino({ level, base: null }, pino.destination(2));
}
