import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Provider } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { TestProvider } from '../../../components/models/test-provider.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { providers } from '../../../data/workspace/providers.ts';
import { ConfirmButton, SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { BuiltInPrices } from './built-in-prices.tsx';
import { EnvironmentProviders } from './environment-providers.tsx';
import { Prices } from './prices.tsx';
import { ProviderForm } from './provider-form.tsx';

const route = getRouteApi('/app/settings/providers');

/** The workspace's providers and custom prices. Only owners can change them. */
export function ProvidersPage() {
  const owner = can(useMe(), 'manage');
  const stored = useQuery(providers.list());
  const { provider: named } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <List
        caption="Providers"
        query={stored}
        rows={(all) => all}
        rowKey={({ name }) => name}
        columns={owner ? [...columns, connection] : columns}
        actions={(provider) => <ProviderActions provider={provider} owner={owner} />}
        intro={
          <>
            The provider name is the prefix of its models: <code>name/model</code>.
          </>
        }
        add={
          owner && (
            <Button onClick={() => openDialog(<ProviderForm provider={null} />)}>
              Add provider
            </Button>
          )
        }
        empty={{ icon: 'settings', title: 'No stored providers', text: emptyText }}
      />
      {owner && named !== undefined && stored.data && (
        <ProviderForm
          provider={stored.data.find(({ name }) => name === named) ?? null}
          newName={named}
          onClose={() => void navigate({ search: {}, replace: true })}
        />
      )}
      <EnvironmentProviders own={stored.data?.map(({ name }) => name) ?? []} canTest={owner} />
      <Prices />
    </>
  );
}

const emptyText = (
  <>
    Agents use the providers configured in the server’s environment, for example with{' '}
    <code>OPENAI_API_KEY</code>, a local Ollama, and the built-in models under <code>cueline/</code>
    . Providers added here belong to this workspace.
  </>
);

function ProviderActions(props: { readonly provider: Provider; readonly owner: boolean }) {
  const { provider, owner } = props;
  const { name } = provider;
  if (!owner) return <BuiltInPrices provider={name} />;
  return (
    <Group gap="xs" justify="flex-end">
      <BuiltInPrices provider={name} />
      <SmallButton
        label="Edit"
        of={name}
        onClick={() => openDialog(<ProviderForm provider={provider} />)}
      />
      <ConfirmButton
        label="Delete"
        of={name}
        title={`Delete ${name}?`}
        action={providers.remove(name)}
      >
        The credential is deleted. Executions with models under <code>{name}/</code> will fail with
        PROVIDER_NOT_CONFIGURED.
      </ConfirmButton>
    </Group>
  );
}

const columns: readonly Column<Provider>[] = [
  { header: 'Name', cell: ({ name }) => <code className="code">{name}</code> },
  { header: 'Type', hideBelow: 'sm', cell: ({ kind }) => kind },
  {
    header: 'Base URL',
    hideBelow: 'md',
    cell: ({ baseURL }) => baseURL ?? <span className="note">default</span>,
  },
  {
    header: 'Credential',
    hideBelow: 'sm',
    cell: ({ hasApiKey, auth }) => (hasApiKey ? 'Stored' : auth ? 'Server’s identity' : 'None'),
  },
  {
    header: 'Updated',
    hideBelow: 'lg',
    cell: ({ updatedAt }) => <Time at={updatedAt} relative />,
  },
];

const connection: Column<Provider> = {
  header: 'Connection',
  cell: ({ name, updatedAt }) => <TestProvider key={updatedAt} name={name} />,
};
