import { join } from 'node:path';

const packageFolder = join(import.meta.dirname, '../../..');

/** `npm run` starts commands in the folder of the package: returns to the folder in which npm was called. */
export function enterCallerFolder(): void {
  const { INIT_CWD } = process.env;
  if (INIT_CWD && process.cwd() === packageFolder) process.chdir(INIT_CWD);
}

/** A variable that a file of the caller names. Settings of the program are in `config.ts`. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name];
}
