import type { ApiKey } from '../../../src/client/index.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { LimitBars } from '../../components/limit-bars.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { Time } from '../../components/time.tsx';
import { keyStateOf } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
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
    cell: (key) => <KeyActions apiKey={key} onRotate={() => onRotate(key)} />,
  };
  return (
    <div className={classes.rows}>
      <DataTable
        caption="API keys"
        columns={canEdit ? [...columns, actions] : columns}
        rows={props.keys}
        rowKey={({ apiKeyId }) => apiKeyId}
        loadingRows={4}
        stale={props.stale ?? false}
      />
    </div>
  );
}

const columns: readonly Column<ApiKey>[] = [
  {
    key: 'name',
    header: 'Name',
    cell: ({ name, start }) => (
      <>
        <div className={classes.name}>{name}</div>
        <code className={classes.start}>{start}…</code>
      </>
    ),
  },
  { key: 'state', header: 'State', cell: (key) => <KeyStateBadge apiKey={key} /> },
  {
    key: 'permissions',
    header: 'Permissions',
    hideBelow: 'md',
    cell: ({ permissions }) => permissions.join(', '),
  },
  {
    key: 'agents',
    header: 'Agents',
    hideBelow: 'sm',
    cell: ({ agentIds }) => (agentIds === null ? 'All' : agentIds.length.toLocaleString()),
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
    hideBelow: 'md',
    cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Time at={expiresAt} relative />),
  },
];

function KeyStateBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const state = keyStateOf(apiKey);
  return <StateBadge tone={state === 'active' ? 'good' : 'calm'} text={state} />;
}
