import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { ErrorState } from '../../../components/states/error-state.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { type AuditAction, type AuditEntry, auditQuery } from '../../../data/workspace/audit.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { List } from '../../../kit/list.tsx';
import type { AuditSearch } from '../route.ts';
import classes from '../settings.module.css';
import { AuditDetails } from './audit-details.tsx';
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
  if (!owner && audit.isError)
    return <ErrorState error={audit.error} onRetry={() => void audit.refetch()} />;
  return (
    <div>
      {owner && <AuditFilters filters={filters} onChange={change} onClear={clear} />}
      <List
        caption="Audit log"
        query={audit}
        rows={(page) => page.audit}
        rowKey={({ auditId }) => auditId}
        columns={columnsOf((subject) => change({ subject }))}
        loadingRows={8}
        empty={{
          icon: 'history',
          title: 'No entries',
          text: 'The audit log lists changes to keys, agents, prompts, workflows, members, providers, prices, plan and retention, deletions, exports and sign-ins.',
        }}
        filtered={hasFilters(filters) && { text: 'No entry matches these filters.' }}
      />
    </div>
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
            <code className={`code ${classes.subject}`}>{entry.subject}</code>
          </UnstyledButton>
        </>
      ),
    },
    {
      header: 'Details',
      hideBelow: 'md',
      cell: ({ details }) => Object.keys(details).length > 0 && <AuditDetails details={details} />,
    },
  ];
}
