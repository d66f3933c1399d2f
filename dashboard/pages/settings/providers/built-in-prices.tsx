import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { builtInPricesQuery } from '../../../data/workspace/prices.ts';
import { SmallButton } from '../../../kit/confirm-dialog.tsx';
import { Dialog, openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { priceColumns } from './price-columns.tsx';

/** Shows what the built-in table says for the models of a provider. */
export function BuiltInPrices({ provider }: { readonly provider: string }) {
  return (
    <SmallButton
      label="Prices"
      name={`Built-in prices of ${provider}`}
      onClick={() => openDialog(<PricesDialog provider={provider} />)}
    />
  );
}

function PricesDialog({ provider }: { readonly provider: string }) {
  const [typed, setTyped] = useState('');
  const words = typed.trim().toLowerCase();
  return (
    <Dialog title={`Built-in prices of ${provider}`} width="large">
      <div className="stack">
        <p className="note">
          Now, in US dollars per million tokens; for short prompts where a long one costs more. A
          custom price replaces them.
        </p>
        <TextInput
          aria-label="Find a model"
          placeholder="Find a model"
          data-autofocus
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <List
          caption="Built-in prices"
          query={useQuery(builtInPricesQuery(provider))}
          rows={(all) => all.filter(({ model }) => model.toLowerCase().includes(words))}
          rowKey={({ model }) => model}
          columns={priceColumns}
          filtered={words !== '' && {}}
          empty="The built-in table has no prices of this provider. Models on a machine of your own cost nothing; for others, set a custom price."
          loadingRows={8}
        />
      </div>
    </Dialog>
  );
}
