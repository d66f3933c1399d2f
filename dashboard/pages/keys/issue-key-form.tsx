import { Checkbox, Stack } from '@mantine/core';
import { RateLimitFields, type RateLimits } from '../../components/fields/rate-limit-fields.tsx';
import { keys } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { FormDialog } from '../../kit/form-dialog.tsx';
import { ExpiryField, expiryOf, noExpiry } from './expiry-field.tsx';
import { IssuedKey, nameField } from './issued-key.tsx';

const permissions = [
  { value: 'execute', label: 'Execute agents and read own executions' },
  { value: 'read', label: 'Read all executions and statistics' },
  { value: 'cancel', label: 'Cancel executions' },
  { value: 'manage', label: 'Manage agents, prompts and keys' },
  { value: 'own', label: 'Manage members, plan, providers, prices, retention, erasures and audit' },
] as const;
type Permission = (typeof permissions)[number]['value'];

interface Values {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly agentIds: readonly string[] | null;
  readonly rateLimits: RateLimits;
  readonly expiry: typeof noExpiry;
  readonly allowedOrigins: readonly string[];
}

const start: Values = {
  name: '',
  permissions: ['execute'],
  agentIds: null,
  // The server's defaults.
  rateLimits: { requestsPerMinute: 100, requestsPerHour: 5_000, requestsPerDay: 100_000 },
  expiry: noExpiry,
  allowedOrigins: [],
};

/** A key for selected agents cannot have `own`, which concerns the whole workspace. */
const isOffered = (permission: Permission, { agentIds }: Values) =>
  permission !== 'own' || agentIds === null;

const grantedBy = (values: Values) =>
  values.permissions.filter((permission) => isOffered(permission, values));

export default function IssueKeyForm({ agentId }: { readonly agentId: string | undefined }) {
  return (
    <FormDialog
      title="Create API key"
      width="medium"
      submit="Create key"
      action={keys.create()}
      start={agentId ? { ...start, agentIds: [agentId] } : start}
      input={(values) => {
        const { agentIds, expiry, allowedOrigins, ...others } = values;
        return {
          ...others,
          permissions: grantedBy(values),
          agentIds: agentIds && [...agentIds],
          expiresAt: expiryOf(expiry),
          allowedOrigins: [...allowedOrigins],
        };
      }}
      incomplete={(values) => grantedBy(values).length === 0}
      fields={({ values, change, error }) => [
        nameField,
        <Permissions
          key="permissions"
          values={values}
          onChange={(permissions) => change({ permissions })}
        />,
        {
          name: 'agentIds',
          label: 'Agents',
          as: 'agents',
          description: 'Leave empty to allow all agents of the workspace',
        },
        [
          <RateLimitFields
            key="limits"
            limits={values.rateLimits}
            onChange={(rateLimits) => change({ rateLimits })}
            error={error}
          />,
        ],
        <ExpiryField
          key="expiry"
          expiry={values.expiry}
          onChange={(expiry) => change({ expiry })}
        />,
        {
          name: 'allowedOrigins',
          label: 'Allowed browser origins',
          as: 'tags',
          description:
            'Only for calls from web pages, for example https://app.example.com. Press Enter to add.',
        },
      ]}
      done={(issued) => <IssuedKey issued={issued} />}
    />
  );
}

function Permissions(props: {
  readonly values: Values;
  readonly onChange: (chosen: Permission[]) => void;
}) {
  const { values, onChange } = props;
  const isOwner = can(useMe(), 'manage');
  const granted = grantedBy(values);
  return (
    <Checkbox.Group
      label="Permissions"
      value={granted}
      onChange={(chosen) => onChange(chosen as Permission[])}
      error={granted.length === 0 && 'Select at least one.'}
    >
      <Stack gap="xs" mt="xs">
        {permissions
          .filter(({ value }) => isOwner || value !== 'own')
          .map(({ value, label }) => (
            <Checkbox
              key={value}
              value={value}
              label={label}
              disabled={!isOffered(value, values)}
            />
          ))}
      </Stack>
    </Checkbox.Group>
  );
}
