import type { Statement } from './pipeline.ts';

/** The statements that pipelined transactions share. */

export const begin: Statement = {
  name: 'begin',
  text: 'begin isolation level read committed',
};

export const commit: Statement = { name: 'commit', text: 'commit' };
