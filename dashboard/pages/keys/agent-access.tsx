import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { NotRenewed } from '../../components/stale-notice.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { keysQuery, standingOf } from '../../data/workspace/keys.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import { CallSnippets } from './call-snippets.tsx';
import { IssueKey } from './issue-key.tsx';
import { type KeyAsked, KeyDialog } from './key-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import classes from './keys.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** Code snippets to call this agent, and the keys that can call it. */
export function AgentAccess() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const keys = useQuery(keysQuery({ limit: 100 }));
  const me = useMe();
  const [asked, ask] = useState<KeyAsked | null>(null);
  const reaching = keys.data?.keys.filter(
    (key) =>
      standingOf(key) === 'active' && (key.agentIds === null || key.agentIds.includes(agentId)),
  );
  const open = agent.apiEnabled && !agent.archived;
  return (
    <div className={classes.areas}>
      {!open && (
        <p className={classes.closed}>
          Calls currently fail with 403: the agent is {agent.archived ? 'archived' : agent.status}
          {agent.archived || agent.apiEnabled ? '' : ', its API disabled'}.
        </p>
      )}
      <Card title="Call from code">
        <CallSnippets agent={agent} />
      </Card>
      <Card
        title="Keys with access to this agent"
        actions={may(me, 'edit') && <IssueKey onClick={() => ask('issue')} />}
      >
        <NotRenewed query={keys} />
        {keys.isError && !keys.data ? (
          <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
        ) : reaching?.length === 0 ? (
          <p className={classes.none}>No keys yet. Create one to call the agent from code.</p>
        ) : (
          <KeyTable keys={reaching} onRotate={ask} />
        )}
        {keys.data?.pagination.hasMore && (
          <p className={classes.none}>
            Shows only matches among the newest 100 keys. <Link to="/keys">See all keys</Link>
          </p>
        )}
      </Card>
      <KeyDialog asked={asked} agentId={agentId} onClose={() => ask(null)} />
    </div>
  );
}
