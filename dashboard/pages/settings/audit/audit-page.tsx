import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { useLastPage } from '../../../components/hooks/use-last-page.ts';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { Pager } from '../../../components/tables/pager.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import { type AuditAction, type AuditEntry, auditQuery } from '../../../data/workspace/audit.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import type { AuditSearch } from '../route.ts';
import classes from '../settings.module.css';
import { AuditSentence } from './audit-entry.tsx';
import { AuditFilters, hasFilters } from './audit-filters.tsx';

const pageSize = 25;

export function AuditPage() {
  const owner = can(useMe(), 'manage');
  const [filters, change, clear] = useFilters<AuditSearch>();
  const { action, offset = 0, ...rest } = filters;
  const query = { ...rest, limit: pageSize, offset };
  const audit = useQuery(
    auditQuery({ ...query, ...(action && { action: action as AuditAction }) }),
  );
  const { data } = audit;
  useLastPage(data?.pagination, data?.audit.length);
  return (
    <div className={classes.rows}>
      {owner && (
        <>
          <AuditFilters filters={filters} onChange={change} onClear={clear} />
          <StaleNotice query={audit} />
        </>
      )}
      {audit.isError && !(data && owner) ? (
        <ErrorState error={audit.error} onRetry={() => void audit.refetch()} />
      ) : data?.audit.length === 0 ? (
        <NoEntries filtered={hasFilters(filters)} />
      ) : (
        <>
          <DataTable
            caption="Audit log"
            columns={columnsOf((subject) => change({ subject }))}
            rows={data?.audit}
            rowKey={({ auditId }) => auditId}
            stale={audit.isPlaceholderData}
          />
          {data && (
            <Pager
              pagination={data.pagination}
              count={data.audit.length}
              onOffset={(to) => change({ offset: to })}
            />
          )}
        </>
      )}
    </div>
  );
}

function NoEntries({ filtered }: { readonly filtered: boolean }) {
  if (filtered) {
    return (
      <EmptyState icon="history" title="No matches">
        No entry matches these filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="history" title="No entries">
      The audit log lists changes to keys, agents, prompts, workflows, members, providers, prices,
      plan and retention, deletions, exports and sign-ins.
    </EmptyState>
  );
}

function columnsOf(onSubject: (subject: string) => void): readonly Column<AuditEntry>[] {
  return [
    { header: 'Time', cell: ({ at }) => <Time at={at} relative /> },
    {
      header: 'Entry',
      cell: (entry) => (
        <>
          <div>
            <AuditSentence entry={entry} />
          </div>
          <UnstyledButton
            aria-label={`Only entries about ${entry.subject}`}
            title="Only entries about this"
            onClick={() => onSubject(entry.subject)}
          >
            <code className={`${classes.code} ${classes.subject}`}>{entry.subject}</code>
          </UnstyledButton>
        </>
      ),
    },
    {
      header: 'Details',
      hideBelow: 'md',
      cell: ({ details }) =>
        Object.keys(details).length > 0 && (
          <code className={`${classes.code} ${classes.details}`}>
            {stringify(details).slice(0, 300)}
          </code>
        ),
    },
  ];
}
