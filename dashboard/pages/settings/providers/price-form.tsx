import { Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { ModelInput } from '../../../components/fields/model-input.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { usePutPrice } from '../../../data/workspace/prices.ts';

const amounts = [
  ['inputPerMillion', 'Input', true],
  ['outputPerMillion', 'Output', true],
  ['cacheReadPerMillion', 'Cache read', false],
  ['cacheWritePerMillion', 'Cache write', false],
] as const;
type Amount = (typeof amounts)[number][0];

/** Sends decimals as typed texts: numbers would lose digits. */
export function PriceForm(props: { readonly model: string; readonly onClose: () => void }) {
  const { onClose } = props;
  const [model, setModel] = useState(props.model);
  const [typed, setTyped] = useState<Partial<Record<Amount, string>>>({});
  const put = usePutPrice();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { inputPerMillion = '', outputPerMillion = '', ...cache } = typed;
    const given = Object.entries(cache).filter(([, text]) => text !== '');
    put.mutate(
      { model, inputPerMillion, outputPerMillion, ...Object.fromEntries(given) },
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog title="Set price" locked={put.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <ModelInput
            placeholder="openai/gpt-5.5"
            required
            value={model}
            error={fieldError(put.error, 'model')}
            onChange={setModel}
          />
          <p>In US dollars per million tokens. Empty cache prices default to the input price.</p>
          {amounts.map(([name, label, required]) => (
            <TextInput
              key={name}
              label={label}
              required={required}
              withAsterisk={false}
              inputMode="decimal"
              placeholder={required ? '2.50' : 'Same as input'}
              value={typed[name] ?? ''}
              error={fieldError(put.error, name)}
              onChange={({ currentTarget }) => setTyped({ ...typed, [name]: currentTarget.value })}
            />
          ))}
          <FormError error={put.error} />
          <DialogActions submit="Set price" pending={put.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}
