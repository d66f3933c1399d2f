import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Price } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { pricesQuery, useDeletePrice } from '../../../data/workspace/prices.ts';
import classes from '../settings.module.css';
import { PriceForm } from './price-form.tsx';

const route = getRouteApi('/app/settings/providers');

/** The workspace's custom prices, which override the built-in price table. */
export function Prices() {
  const owner = can(useMe(), 'manage');
  const prices = useQuery(pricesQuery);
  const { priceOf } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, { open, close }] = useDisclosure(priceOf !== undefined);
  const closeForm = () => {
    close();
    if (priceOf !== undefined) void navigate({ search: {}, replace: true });
  };
  return (
    <Card
      title="Custom prices"
      actions={
        owner && (
          <Button size="xs" variant="default" onClick={open}>
            Set price
          </Button>
        )
      }
    >
      <p className={classes.text}>
        Custom prices override the built-in price table for new model calls. Use them for negotiated
        prices and for models that the table does not include.
      </p>
      {prices.isError && !prices.data ? (
        <ErrorState error={prices.error} onRetry={() => void prices.refetch()} />
      ) : (
        prices.data?.length !== 0 && (
          <div className={classes.rows}>
            <DataTable
              caption="Custom price list"
              columns={owner ? [...columns, actions] : columns}
              rows={prices.data}
              rowKey={({ model }) => model}
              loadingRows={2}
            />
          </div>
        )
      )}
      {owner && adding && <PriceForm model={priceOf ?? ''} onClose={closeForm} />}
    </Card>
  );
}

const columns: readonly Column<Price>[] = [
  {
    key: 'model',
    header: 'Model',
    cell: ({ model }) => <code className={classes.code}>{model}</code>,
  },
  amount('input', 'Input', (price) => price.inputPerMillion),
  amount('output', 'Output', (price) => price.outputPerMillion),
  amount('read', 'Cache read', (price) => price.cacheReadPerMillion ?? 'Same as input', 'md'),
  amount('write', 'Cache write', (price) => price.cacheWritePerMillion ?? 'Same as input', 'md'),
];

/** Dollars per million tokens, with all digits as set. */
function amount(
  key: string,
  header: string,
  of: (price: Price) => string,
  hideBelow?: 'md',
): Column<Price> {
  const cell = (price: Price) => (/^\d/.test(of(price)) ? `$${of(price)} / M` : of(price));
  return { key, header, align: 'right', cell, ...(hideBelow && { hideBelow }) };
}

const actions: Column<Price> = {
  key: 'actions',
  header: 'Actions',
  align: 'right',
  cell: ({ model }) => <DeletePrice model={model} />,
};

function DeletePrice({ model }: { readonly model: string }) {
  const remove = useDeletePrice();
  const [isConfirming, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Delete the price of ${model}`}
        onClick={open}
      >
        Delete
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        title={`Delete the price of ${model}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate(model, { onSuccess: close })}
      >
        New calls of this model use the built-in price table. If it has no price, their cost is
        unknown. Recorded costs do not change.
      </ConfirmDialog>
    </>
  );
}
