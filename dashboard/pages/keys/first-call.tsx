import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Agent, IssuedApiKey } from '../../../src/client/index.ts';
import { FormError } from '../../components/states/form-error.tsx';
import { ExecutionBadge } from '../../components/states/status-badge.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { deployment, latestCallQuery } from '../../data/agents/first-call.ts';
import { formatDuration } from '../../data/text/format.ts';
import { useAction } from '../../kit/resource.ts';
import { FirstCallSnippets } from './call-snippets.tsx';
import classes from './keys.module.css';

/** Commands that call the agent of a new key, which light up when the call arrives. */
export function FirstCall(props: { readonly agentId: string; readonly issued: IssuedApiKey }) {
  const { agentId, issued } = props;
  const { data: agent } = useQuery(agentQuery(agentId));
  if (!agent || !issued.permissions.includes('execute')) return null;
  return (
    <>
      {!(agent.apiEnabled && !agent.archived) && <NotDeployed agent={agent} />}
      <FirstCallSnippets agent={agent} apiKey={issued.key} />
      <Arrival agentId={agentId} apiKeyId={issued.apiKeyId} />
    </>
  );
}

function NotDeployed({ agent }: { readonly agent: Agent }) {
  const deploy = useAction(deployment(agent.agentId));
  return (
    <div className={classes.closed}>
      <Group gap="sm">
        <span>
          Calls fail with 403 until the agent is deployed: it is{' '}
          {agent.archived ? 'archived' : agent.status}.
        </span>
        <Button
          size="compact-sm"
          variant="default"
          loading={deploy.isPending}
          onClick={() => deploy.mutate()}
        >
          Deploy
        </Button>
      </Group>
      <FormError error={deploy.error} />
    </div>
  );
}

function Arrival({ agentId, apiKeyId }: { readonly agentId: string; readonly apiKeyId: string }) {
  const { data: call } = useQuery(latestCallQuery(agentId, apiKeyId));
  return (
    <div className={classes.arrival} role="status" data-status={call?.status ?? 'waiting'}>
      {!call ? (
        <span>Waiting for the first call. Run the command in a terminal.</span>
      ) : (
        <>
          <b>{call.status === 'processing' ? 'Your call arrived' : arrived(call.status)}</b>
          <ExecutionBadge execution={call} />
          {call.status === 'success' && call.latencyMs !== undefined && (
            <span>{formatDuration(call.latencyMs)}</span>
          )}
          {call.error && <span className="wrap">{call.error}</span>}
          <Link
            to="/agents/$agentId/history/$executionId"
            params={{ agentId, executionId: call.executionId }}
            target="_blank"
          >
            View execution
          </Link>
        </>
      )}
    </div>
  );
}

function arrived(status: string): string {
  return status === 'success' ? 'Your first call succeeded' : 'Your call arrived and ended';
}
