import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AuditFilters } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';

export type AuditAction = NonNullable<AuditFilters['action']>;
export type AuditEntry = Awaited<ReturnType<typeof cueline.audit>>['audit'][number];

export const auditQuery = (filters: AuditFilters) =>
  queryOptions({
    queryKey: ['audit', filters],
    queryFn: ({ signal }) => cueline.audit(filters, { signal }),
    placeholderData: keepPreviousData,
  });
