import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../src/client/index.ts';
import { ErrorState } from '../../components/states/error-state.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { pinVerb } from '../../components/versions/pin-button.tsx';
import { TemplateDiff } from '../../components/versions/template-diff.tsx';
import { useChangeAgent } from '../../data/agents/agent-actions.ts';
import { taggedAgentQuery } from '../../data/agents/agents.ts';
import { versionQuery } from '../../data/prompts/prompts.ts';
import { Dialog, DialogCloseButton } from '../../kit/dialog.tsx';
import classes from './pins.module.css';

/** Shows the differences of another version before it is pinned. */
export function PinDialog(props: {
  readonly agent: Agent;
  readonly promptVersionId: string;
  readonly onClose: () => void;
}) {
  const { agent, promptVersionId, onClose } = props;
  const before = useQuery(versionQuery(agent.promptId, agent.promptVersionId));
  const after = useQuery(versionQuery(agent.promptId, promptVersionId));
  const pin = useChangeAgent(agent.agentId);
  const tagged = useQuery(taggedAgentQuery(agent.agentId));
  const now = tagged.data?.agent ?? agent;
  const declared = new Set([
    ...now.requiredVariables,
    ...now.optionalVariables,
    ...Object.keys(now.defaultVariableValues),
  ]);
  const missing = (after.data?.variables ?? []).filter((name) => !declared.has(name));
  const label = after.data?.promptVersionLabel ?? '…';
  const verb = pinVerb({ id: promptVersionId, label }, agent.promptVersionId);
  // The server rejects a version whose variables are not declared, so they are declared in the same update. That
  // replaces the whole list of required variables, so the ETag guards against concurrent changes.
  const declares = missing.length > 0 && {
    patch: { promptVersionId, requiredVariables: [...now.requiredVariables, ...missing] },
    etag: tagged.data?.etag ?? null,
  };
  const change = declares || { patch: { promptVersionId } };
  const error = before.error ?? after.error ?? (tagged.data ? null : tagged.error);
  return (
    <Dialog width="large" title={`${verb}?`} locked={pin.isPending} onClose={onClose}>
      <Stack gap="lg">
        <p>
          New calls will use “{label}” instead of “{agent.promptVersionLabel}”. Executions in
          progress keep their version; ID, keys and settings stay.
        </p>
        {missing.length > 0 && (
          <p className={classes.warning}>
            This version uses variables that the agent does not declare:{' '}
            <code>{missing.join(', ')}</code>. They become required, and calls without them will
            fail with 400.
          </p>
        )}
        {error ? (
          <ErrorState error={error} />
        ) : before.data && after.data ? (
          <TemplateDiff before={before.data} after={after.data} />
        ) : (
          <Skeleton height={240} />
        )}
        <FormError error={pin.error} />
        <Group justify="flex-end" gap="xs">
          <DialogCloseButton>Keep {agent.promptVersionLabel}</DialogCloseButton>
          <Button
            loading={pin.isPending}
            disabled={!after.data || !tagged.data}
            onClick={() =>
              pin.mutate(change, { onSuccess: onClose, onError: () => void tagged.refetch() })
            }
          >
            {verb}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
