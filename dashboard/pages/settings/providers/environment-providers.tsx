import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { EnvironmentProvider } from '../../../../src/client/index.ts';
import { Card } from '../../../components/layout/card.tsx';
import test from '../../../components/models/test-provider.module.css';
import { TestOutcome } from '../../../components/models/test-provider.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { environmentProvidersQuery, useListModels } from '../../../data/workspace/providers.ts';
import classes from '../settings.module.css';

/** The providers of the server's environment, which every workspace can use. Nothing is shown if there are none. */
export function EnvironmentProviders(props: {
  /** Names of the workspace's own providers, which take precedence. */
  readonly own: readonly string[];
  readonly canTest: boolean;
}) {
  const { own, canTest } = props;
  const providers = useQuery(environmentProvidersQuery);
  const { data = [] } = providers;
  if (providers.isError && !providers.data) {
    return (
      <Card title={title}>
        <ErrorState error={providers.error} onRetry={() => void providers.refetch()} />
      </Card>
    );
  }
  if (data.length === 0) return null;
  const columns: readonly Column<EnvironmentProvider>[] = [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name }) => <code className={classes.code}>{name}</code>,
    },
    { key: 'kind', header: 'Type', hideBelow: 'sm', cell: ({ kind }) => kind },
    {
      key: 'use',
      header: 'Used by',
      cell: ({ name }) =>
        own.includes(name) ? 'Other workspaces: yours has its own' : 'All workspaces',
    },
  ];
  const connection: Column<EnvironmentProvider> = {
    key: 'connection',
    header: 'Connection',
    cell: ({ name }) => !own.includes(name) && <ListModels name={name} />,
  };
  return (
    <Card title={title}>
      <p className={classes.text}>
        The operator has configured their credentials. To replace one in this workspace, add a
        provider with the same name.
      </p>
      <div className={classes.rows}>
        <DataTable
          caption="Providers of the server’s environment"
          columns={canTest ? [...columns, connection] : columns}
          rows={data}
          rowKey={({ name }) => name}
        />
      </div>
    </Card>
  );
}

const title = 'From the server’s environment';

/** Asks a provider for its models: a test of a credential that the workspace does not hold. */
function ListModels({ name }: { readonly name: string }) {
  const list = useListModels();
  const count = list.data?.models.length ?? 0;
  return (
    <div className={test.test}>
      <Button
        size="xs"
        variant="default"
        aria-label={`Test ${name}`}
        loading={list.isPending}
        onClick={() => list.mutate(name)}
      >
        Test
      </Button>
      <TestOutcome
        isPending={list.isPending}
        error={list.error}
        result={list.data}
        success={`Connected, ${count.toLocaleString()} ${count === 1 ? 'model' : 'models'}`}
      />
    </div>
  );
}
