import { Button, Group } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { keyStateOf, keysQuery } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { CallSnippets } from './call-snippets.tsx';
import { CreateKeyButton } from './create-key-button.tsx';
import { DeployDialog } from './deploy-dialog.tsx';
import { KeyDialog, type KeyDialogState } from './key-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import classes from './keys.module.css';

const route = getRouteApi('/app/agents/$agentId/use');

/** How to call this agent from code and from other tools, and the keys that can call it. */
export function UseItPage() {
  const { agentId } = route.useParams();
  const { start } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const keys = useQuery(keysQuery({ limit: 100 }));
  const me = useMe();
  const [dialog, setDialog] = useState<KeyDialogState | null>(null);
  const startFirstCall = (start: boolean) =>
    void navigate({ search: start ? { start } : {}, replace: true, resetScroll: false });
  const keysWithAccess = keys.data?.keys.filter(
    (key) =>
      keyStateOf(key) === 'active' && (key.agentIds === null || key.agentIds.includes(agentId)),
  );
  const open = agent.apiEnabled && !agent.archived;
  return (
    <div className={classes.areas}>
      {!open && (
        <Group className={classes.closed} gap="sm" justify="space-between">
          <span>
            Calls currently fail with 403.{' '}
            {agent.archived
              ? 'The agent is archived.'
              : `The agent is in stage ${agent.status} and its API is disabled.`}
          </span>
          {can(me, 'edit') && (
            <Button size="compact-sm" onClick={() => startFirstCall(true)}>
              Deploy and get a key
            </Button>
          )}
        </Group>
      )}
      <Card title="Call this agent">
        <CallSnippets agent={agent} />
      </Card>
      <Card
        title="Keys with access to this agent"
        actions={can(me, 'edit') && <CreateKeyButton onClick={() => setDialog('new')} />}
      >
        <StaleNotice query={keys} />
        {keys.isError && !keys.data ? (
          <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
        ) : keysWithAccess?.length === 0 ? (
          <p className={classes.muted}>No keys yet. Create one to call the agent from code.</p>
        ) : (
          <KeyTable keys={keysWithAccess} onRotate={setDialog} />
        )}
        {keys.data?.pagination.hasMore && (
          <p className={classes.muted}>
            Shows only matches among the newest 100 keys. <Link to="/keys">See all keys</Link>
          </p>
        )}
      </Card>
      <KeyDialog dialog={dialog} agentId={agentId} onClose={() => setDialog(null)} />
      {start && can(me, 'edit') && (
        <DeployDialog agent={agent} onClose={() => startFirstCall(false)} />
      )}
    </div>
  );
}
