import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { cueline } from './client.ts';

type Query = NonNullable<Parameters<typeof cueline.request<'GET /api/v1/audit'>>[1]['query']>;
export type AuditAction = NonNullable<Query['action']>;
export type AuditLine = Awaited<ReturnType<typeof read>>['audit'][number];

export const auditQuery = (query: Query) =>
  queryOptions({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => read(query, signal),
    placeholderData: keepPreviousData,
  });

async function read(query: Query, signal: AbortSignal) {
  return (await cueline.request('GET /api/v1/audit', { query }, { signal })).body;
}
