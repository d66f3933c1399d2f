import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Price } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { prices } from '../../../data/workspace/prices.ts';
import { ConfirmButton, SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { priceColumns } from './price-columns.tsx';
import { PriceForm } from './price-form.tsx';

const route = getRouteApi('/app/settings/providers');

/** The workspace's custom prices, which override the built-in price table. */
export function Prices() {
  const owner = can(useMe(), 'manage');
  const { priceOf } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Card
      title="Custom prices"
      actions={
        owner && (
          <SmallButton label="Set price" onClick={() => openDialog(<PriceForm model="" />)} />
        )
      }
    >
      <p className="intro">
        Custom prices override the built-in price table for new model calls. Use them for negotiated
        prices and for models that the table does not include. <b>Prices</b> beside a provider shows
        what the table says.
      </p>
      <List
        caption="Custom price list"
        query={useQuery(prices.list())}
        rows={(all) => all}
        rowKey={({ model }) => model}
        columns={columns}
        actions={owner && (({ model }) => <DeletePrice model={model} />)}
        empty={null}
      />
      {owner && priceOf !== undefined && (
        <PriceForm model={priceOf} onClose={() => void navigate({ search: {}, replace: true })} />
      )}
    </Card>
  );
}

const columns: readonly Column<Price>[] = [
  ...priceColumns,
  { header: 'Since', hideBelow: 'md', cell: ({ validFrom }) => <Time at={validFrom} relative /> },
];

function DeletePrice({ model }: { readonly model: string }) {
  return (
    <ConfirmButton
      label="Delete"
      of={`the price of ${model}`}
      title={`Delete the price of ${model}?`}
      action={prices.remove(model)}
    >
      New calls of this model use the built-in price table. If it has no price, their cost is
      unknown. Recorded costs do not change.
    </ConfirmButton>
  );
}
