import { statement } from './statement.ts';

/** The statements that pipelined transactions share. */

export const begin = statement<void>('begin')`begin isolation level read committed`;

export const commit = statement<void>('commit')`commit`;
