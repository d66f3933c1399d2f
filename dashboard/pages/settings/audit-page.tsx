import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Pager } from '../../components/pager.tsx';
import { StaleNotice } from '../../components/stale-notice.tsx';
import { Time } from '../../components/time.tsx';
import { stringify } from '../../data/text/exact-json.ts';
import { type AuditAction, type AuditLine, auditQuery } from '../../data/workspace/audit.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import type { AuditSearch } from './route.ts';
import classes from './settings.module.css';

const pageSize = 25;

const actions: Record<AuditAction, string> = {
  'prompt.create': 'Prompt created',
  'prompt.change': 'Prompt updated',
  'prompt.archive': 'Prompt archived',
  'prompt.restore': 'Prompt restored',
  'prompt.version': 'Prompt version created',
  'agent.create': 'Agent created',
  'agent.change': 'Agent updated',
  'agent.move': 'Agent stage changed',
  'agent.pin': 'Version pinned',
  'agent.delete': 'Agent deleted',
  'key.issue': 'Key created',
  'key.rotate': 'Key rotated',
  'key.revoke': 'Key revoked',
  'member.change': 'Role changed',
  'member.remove': 'Member removed',
  'member.join': 'Member joined',
  'invitation.create': 'Invitation created',
  'invitation.delete': 'Invitation withdrawn',
  'provider.put': 'Provider saved',
  'provider.delete': 'Provider removed',
  'provider.test': 'Provider tested',
  'price.put': 'Price saved',
  'price.delete': 'Price removed',
  'plan.change': 'Plan changed',
  'retention.change': 'Retention changed',
  'workflow.create': 'Workflow created',
  'workflow.change': 'Workflow updated',
  'workflow.pin': 'Workflow version pinned',
  'workflow.delete': 'Workflow deleted',
  'schedule.create': 'Schedule created',
  'schedule.change': 'Schedule updated',
  'schedule.delete': 'Schedule deleted',
  'webhook.create': 'Webhook created',
  'webhook.rotate': 'Webhook rotated',
  'webhook.delete': 'Webhook deleted',
  'endpoint.create': 'Endpoint created',
  'endpoint.change': 'Endpoint changed',
  'endpoint.rotate': 'Endpoint secret rotated',
  'endpoint.disable': 'Endpoint disabled',
  'endpoint.delete': 'Endpoint deleted',
  'execution.delete': 'Record deleted',
  'execution.export': 'Executions exported',
  'erasure.request': 'Erasure requested',
  'erasure.complete': 'Erasure completed',
  'session.create': 'Signed in',
  'session.refuse': 'Sign-in failed',
  'password.change': 'Password changed',
  'password.reset': 'Password reset',
  'secret.rotate': 'Server secret rotated',
};

export function AuditPage() {
  const [{ action, offset = 0 }, change] = useFilters<AuditSearch>();
  const query = { limit: pageSize, offset, ...(action && { action: action as AuditAction }) };
  const audit = useQuery(auditQuery(query));
  const nameOf = useMemberNames();
  const { data } = audit;
  useLastPage(data?.pagination, data?.audit.length);
  return (
    <div className={classes.rows}>
      <search className={classes.filters}>
        <NativeSelect
          aria-label="Action"
          w="16rem"
          maw="100%"
          value={action ?? ''}
          data={[
            { value: '', label: 'All actions' },
            ...Object.entries(actions).map(([value, label]) => ({ value, label })),
          ]}
          onChange={({ currentTarget }) => change({ action: currentTarget.value || undefined })}
        />
      </search>
      <StaleNotice query={audit} />
      {audit.isError && !data ? (
        <ErrorState error={audit.error} onRetry={() => void audit.refetch()} />
      ) : data?.audit.length === 0 ? (
        <EmptyState icon="history" title="No entries">
          The audit log lists changes to keys, agents, prompts, workflows, members, providers,
          prices, plan and retention, deletions, exports and sign-ins.
        </EmptyState>
      ) : (
        <>
          <DataTable
            caption="Audit log"
            columns={columnsOf(nameOf)}
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

function columnsOf(nameOf: (userId: string | null) => string): readonly Column<AuditLine>[] {
  return [
    { key: 'at', header: 'Time', cell: ({ at }) => <Time at={at} relative /> },
    {
      key: 'action',
      header: 'Action',
      cell: ({ action, subject }) => (
        <>
          <div>{actions[action] ?? action}</div>
          <code className={`${classes.code} ${classes.subject}`}>{subject}</code>
        </>
      ),
    },
    {
      key: 'who',
      header: 'User',
      cell: ({ action, userId, apiKeyId, via }) => (
        <>
          <div>{userId === null ? unnamed(action, via) : nameOf(userId)}</div>
          {apiKeyId && <div className={classes.muted}>via API key</div>}
        </>
      ),
    },
    {
      key: 'details',
      header: 'Details',
      hideBelow: 'md',
      cell: ({ details }) =>
        Object.keys(details).length > 0 && (
          <code className={classes.code}>{stringify(details).slice(0, 300)}</code>
        ),
    },
  ];
}

function unnamed(action: AuditAction, via: AuditLine['via']): string {
  if (via !== null) return 'Command line';
  return action === 'session.refuse' ? 'Unknown' : 'Cueline';
}
