import type { ApiKey } from '../../../src/client/index.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { LimitBars } from '../../components/limit-bars.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { Time } from '../../components/time.tsx';
import { standingOf } from '../../data/workspace/keys.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import { KeyActions } from './key-actions.tsx';
import classes from './keys.module.css';

export function KeyTable(props: {
  /** Undefined while loading. */
  readonly keys: readonly ApiKey[] | undefined;
  readonly stale?: boolean;
  readonly onRotate: (key: ApiKey) => void;
}) {
  const { onRotate } = props;
  const mayChange = may(useMe(), 'edit');
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
        columns={mayChange ? [...columns, actions] : columns}
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
  { key: 'state', header: 'State', cell: (key) => <KeyState apiKey={key} /> },
  {
    key: 'permissions',
    header: 'Permissions',
    from: 'md',
    cell: ({ permissions }) => permissions.join(', '),
  },
  {
    key: 'agents',
    header: 'Agents',
    from: 'sm',
    cell: ({ agentIds }) => (agentIds === null ? 'All' : agentIds.length.toLocaleString()),
  },
  {
    key: 'limits',
    header: 'Rate limit usage',
    from: 'md',
    cell: ({ rateLimitUsage }) =>
      rateLimitUsage.length === 0 ? 'No limits' : <LimitBars usage={rateLimitUsage} brief />,
  },
  {
    key: 'used',
    header: 'Last used',
    from: 'sm',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} since />),
  },
  {
    key: 'expires',
    header: 'Expires',
    from: 'md',
    cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Time at={expiresAt} since />),
  },
];

function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  const standing = standingOf(apiKey);
  return <StateBadge tone={standing === 'active' ? 'good' : 'calm'} text={standing} />;
}
