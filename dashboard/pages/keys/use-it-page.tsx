import { Button, Group } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ApiKey } from '../../../src/client/index.ts';
import { Card } from '../../components/layout/card.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { keyStateOf, keysQuery } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { CallSnippets } from './call-snippets.tsx';
import { CreateKey } from './create-key.tsx';
import { DeployDialog } from './deploy-dialog.tsx';
import { KeyList } from './key-list.tsx';
import classes from './keys.module.css';

const route = getRouteApi('/app/agents/$agentId/use');

/** How to call this agent from code and from other tools, and the keys that can call it. */
export function UseItPage() {
  const { agentId } = route.useParams();
  const { start } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const me = useMe();
  const startFirstCall = (start: boolean) =>
    void navigate({ search: start ? { start } : {}, replace: true, resetScroll: false });
  const canCall = (key: ApiKey) =>
    keyStateOf(key) === 'active' && (key.agentIds === null || key.agentIds.includes(agentId));
  const keys = useQuery({
    ...keysQuery({ limit: 100 }),
    select: ({ keys, pagination }) => ({ keys: keys.filter(canCall), ...pagination }),
  });
  const open = agent.apiEnabled && !agent.archived;
  return (
    <div className="areas">
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
      <Card title="Keys with access to this agent" actions={<CreateKey agentId={agentId} />}>
        <KeyList
          query={keys}
          rows={(page) => page.keys}
          empty="No keys yet. Create one to call the agent from code."
        />
        {keys.data?.hasMore && (
          <p className={classes.muted}>
            Shows only matches among the newest 100 keys. <Link to="/keys">See all keys</Link>
          </p>
        )}
      </Card>
      {start && can(me, 'edit') && (
        <DeployDialog agent={agent} onClose={() => startFirstCall(false)} />
      )}
    </div>
  );
}
