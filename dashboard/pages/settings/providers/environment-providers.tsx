import { useQuery } from '@tanstack/react-query';
import type { EnvironmentProvider } from '../../../../src/client/index.ts';
import { Card } from '../../../components/layout/card.tsx';
import test from '../../../components/models/test-provider.module.css';
import { TestOutcome } from '../../../components/models/test-provider.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { environmentProvidersQuery, useListModels } from '../../../data/workspace/providers.ts';
import { SmallButton } from '../../../kit/confirm-dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { BuiltInPrices } from './built-in-prices.tsx';

/** The providers of the server's environment, which every workspace can use. Nothing is shown if there are none. */
export function EnvironmentProviders(props: {
  /** Names of the workspace's own providers, which take precedence. */
  readonly own: readonly string[];
  readonly canTest: boolean;
}) {
  const { own, canTest } = props;
  const providers = useQuery(environmentProvidersQuery);
  if (providers.data?.length === 0 || providers.isPending) return null;
  const connection: Column<EnvironmentProvider> = {
    header: 'Connection',
    cell: ({ name }) => !own.includes(name) && <ListModels name={name} />,
  };
  return (
    <Card title="From the server’s environment">
      {providers.data && (
        <p className="intro">
          The operator has configured their credentials. To replace one in this workspace, add a
          provider with the same name.
        </p>
      )}
      <List
        caption="Providers of the server’s environment"
        query={providers}
        rows={(all) => all}
        rowKey={({ name }) => name}
        columns={[
          { header: 'Name', cell: ({ name }) => <code className="code">{name}</code> },
          { header: 'Type', hideBelow: 'sm', cell: ({ kind }) => kind },
          {
            header: 'Used by',
            cell: ({ name }) =>
              own.includes(name) ? 'Other workspaces: yours has its own' : 'All workspaces',
          },
          ...(canTest ? [connection] : []),
        ]}
        actions={({ name }) => !own.includes(name) && <BuiltInPrices provider={name} />}
        empty={null}
      />
    </Card>
  );
}

/** Asks a provider for its models: a test of a credential that the workspace does not hold. */
function ListModels({ name }: { readonly name: string }) {
  const list = useListModels();
  const count = list.data?.models.length ?? 0;
  return (
    <div className={test.test}>
      <SmallButton
        label="Test"
        of={name}
        loading={list.isPending}
        onClick={() => list.mutate(name)}
      />
      <TestOutcome
        isPending={list.isPending}
        error={list.error}
        result={list.data}
        success={`Connected, ${count.toLocaleString()} ${count === 1 ? 'model' : 'models'}`}
      />
    </div>
  );
}
