import { Checkbox, Stack, TagsInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { AgentsField } from '../../components/fields/agents-field.tsx';
import fields from '../../components/fields/fields.module.css';
import { RateLimitFields, type RateLimits } from '../../components/fields/rate-limit-fields.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { useIssueKey } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ExpiryField, expiryOf, noExpiry } from './expiry-field.tsx';
import { IssuedKey } from './issued-key.tsx';
import { KeyNameField } from './key-name-field.tsx';

const permissions = [
  { value: 'execute', label: 'Execute agents and read own executions' },
  { value: 'read', label: 'Read all executions and statistics' },
  { value: 'cancel', label: 'Cancel executions' },
  { value: 'manage', label: 'Manage agents, prompts and keys' },
  { value: 'own', label: 'Manage members, plan, providers, prices, retention, erasures and audit' },
] as const;
type Permission = (typeof permissions)[number]['value'];

/** The server's defaults. */
const defaultLimits: RateLimits = {
  requestsPerMinute: 100,
  requestsPerHour: 5_000,
  requestsPerDay: 100_000,
};

export default function IssueKeyForm(props: {
  readonly agentId: string | undefined;
  readonly onClose: () => void;
}) {
  const { onClose } = props;
  const [name, setName] = useState('');
  const [permissionsGranted, setPermissionsGranted] = useState<string[]>(['execute']);
  const [agentIds, setAgentIds] = useState<string[]>(props.agentId ? [props.agentId] : []);
  const [limits, setLimits] = useState(defaultLimits);
  const [expiry, setExpiry] = useState(noExpiry);
  const [allowedOrigins, setOrigins] = useState<string[]>([]);
  const issue = useIssueKey();
  const isOwner = can(useMe(), 'manage');
  // A key for selected agents cannot have `own`, which concerns the whole workspace.
  const isOffered = (value: string) => value !== 'own' || agentIds.length === 0;
  const granted = permissionsGranted.filter(isOffered);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expiresAt = expiryOf(expiry);
    if (expiresAt === undefined) return;
    issue.mutate({
      name,
      permissions: granted as Permission[],
      agentIds: agentIds.length === 0 ? null : agentIds,
      rateLimits: limits,
      expiresAt,
      allowedOrigins,
    });
  };
  if (issue.data) {
    return (
      <Dialog title={`API key ${issue.data.name}`} size="xl" locked onClose={onClose}>
        <IssuedKey issued={issue.data} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create API key" size="lg" locked={issue.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <KeyNameField name={name} error={issue.error} onChange={setName} />
          <Checkbox.Group
            label="Permissions"
            value={granted}
            onChange={setPermissionsGranted}
            error={granted.length === 0 && 'Select at least one.'}
          >
            <Stack gap="xs" mt="xs">
              {permissions
                .filter(({ value }) => isOwner || value !== 'own')
                .map(({ value, label }) => (
                  <Checkbox key={value} value={value} label={label} disabled={!isOffered(value)} />
                ))}
            </Stack>
          </Checkbox.Group>
          <AgentsField
            description="Leave empty to allow all agents of the workspace"
            chosen={agentIds}
            onChange={setAgentIds}
          />
          <div className={fields.thirds}>
            <RateLimitFields limits={limits} onChange={setLimits} error={issue.error} />
          </div>
          <ExpiryField expiry={expiry} onChange={setExpiry} />
          <TagsInput
            label="Allowed browser origins"
            description="Only for calls from web pages, for example https://app.example.com. Press Enter to add."
            value={allowedOrigins}
            error={fieldError(issue.error, 'allowedOrigins')}
            onChange={setOrigins}
          />
          <FormError error={issue.error} />
          <DialogActions
            submit="Create key"
            pending={issue.isPending}
            disabled={granted.length === 0}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
