import { Link } from '@tanstack/react-router';
import type { ApiKey } from '../../../src/client/index.ts';
import { LimitBars } from '../../components/figures/limit-bars.tsx';
import { Time } from '../../components/figures/time.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import list from '../../components/tables/list.module.css';
import { useAgentNames } from '../../data/agents/agent-names.ts';
import { keyStateOf } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { KeyActions } from './key-actions.tsx';
import classes from './keys.module.css';

export function KeyTable(props: {
  /** Undefined while loading. */
  readonly keys: readonly ApiKey[] | undefined;
  readonly stale?: boolean;
  readonly onRotate: (key: ApiKey) => void;
}) {
  const { onRotate } = props;
  const canEdit = can(useMe(), 'edit');
  const actions: Column<ApiKey> = {
    key: 'actions',
    header: 'Actions',
    align: 'right',
    sticky: true,
    cell: (key) => <KeyActions apiKey={key} onRotate={() => onRotate(key)} />,
  };
  return (
    <DataTable
      caption="API keys"
      columns={canEdit ? [...columns, actions] : columns}
      rows={props.keys}
      rowKey={({ apiKeyId }) => apiKeyId}
      loadingRows={4}
      stale={props.stale ?? false}
    />
  );
}

const columns: readonly Column<ApiKey>[] = [
  {
    key: 'name',
    header: 'Name',
    isName: true,
    cell: ({ name, start }) => (
      <div className={list.line}>
        <span className={list.name} title={name} dir="auto">
          {name}
        </span>
        <code className={classes.start}>{start}…</code>
      </div>
    ),
  },
  { key: 'state', header: 'State', cell: (key) => <KeyStateBadge apiKey={key} /> },
  {
    key: 'permissions',
    header: 'Permissions',
    hideBelow: 'xl',
    cell: ({ permissions }) => <span className={list.nowrap}>{permissions.join(', ')}</span>,
  },
  {
    key: 'agents',
    header: 'Agents',
    hideBelow: 'sm',
    cell: ({ agentIds }) => <KeyAgents agentIds={agentIds} />,
  },
  {
    key: 'creator',
    header: 'Created by',
    hideBelow: 'lg',
    cell: ({ createdBy }) => <Creator userId={createdBy} />,
  },
  {
    key: 'limits',
    header: 'Rate limit usage',
    hideBelow: 'md',
    cell: ({ rateLimitUsage }) =>
      rateLimitUsage.length === 0 ? 'No limits' : <LimitBars usage={rateLimitUsage} brief />,
  },
  {
    key: 'used',
    header: 'Last used',
    hideBelow: 'sm',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} relative />),
  },
  {
    key: 'expires',
    header: 'Expires',
    hideBelow: 'xl',
    cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Time at={expiresAt} relative />),
  },
];

const namesMax = 2;

/** The names of the agents that a key can call. */
function KeyAgents({ agentIds }: { readonly agentIds: readonly string[] | null }) {
  const nameOf = useAgentNames((agentIds ?? []).slice(0, namesMax));
  if (agentIds === null) return 'All';
  const more = agentIds.length - namesMax;
  return (
    <span className={classes.agents}>
      {agentIds.slice(0, namesMax).map((agentId) => (
        <Link
          key={agentId}
          to="/agents/$agentId"
          params={{ agentId }}
          title={nameOf(agentId)}
          dir="auto"
        >
          {nameOf(agentId) ?? agentId}
        </Link>
      ))}
      {more > 0 && <span>and {more.toLocaleString()} more</span>}
    </span>
  );
}

function Creator({ userId }: { readonly userId: string | null }) {
  return <bdi>{useMemberNames()(userId)}</bdi>;
}

function KeyStateBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const state = keyStateOf(apiKey);
  return <StateBadge tone={state === 'active' ? 'good' : 'calm'} text={state} />;
}
