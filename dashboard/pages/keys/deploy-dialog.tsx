import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { Dialog, DialogCloseButton } from '../../components/dialogs/dialog.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { useDeployWithKey } from '../../data/agents/first-call.ts';
import { FirstCall } from './first-call.tsx';

/** Deploys an agent, issues a key for it, and shows how to make the first call. */
export function DeployDialog(props: { readonly agent: Agent; readonly onClose: () => void }) {
  const { agent, onClose } = props;
  const isOpen = agent.status === 'Deployed' && agent.apiEnabled && !agent.archived;
  const [name, setName] = useState(`${agent.agentName.slice(0, nameMax - 4)} key`);
  const deploy = useDeployWithKey(agent.agentId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    deploy.mutate(name);
  };
  if (deploy.data) {
    return (
      <Dialog title={`Call ${agent.agentName}`} size="xl" locked onClose={onClose}>
        <FirstCall agentId={agent.agentId} issued={deploy.data.issued} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={isOpen ? 'Get a key' : 'Deploy and get a key'}
      locked={deploy.isPending}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            {!isOpen && 'Deploys the agent, so that programs can call it. '}
            The key can execute only this agent, within the default limits of keys.
          </p>
          <TextInput
            label="Name of the key"
            description="Which program uses it"
            required
            withAsterisk={false}
            data-autofocus
            maxLength={nameMax}
            value={name}
            error={fieldError(deploy.error, 'name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <FormError error={deploy.error} />
          <Group justify="flex-end" gap="xs">
            <DialogCloseButton>Later</DialogCloseButton>
            <Button type="submit" loading={deploy.isPending}>
              {isOpen ? 'Create key' : 'Deploy and create key'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

const nameMax = 200;
