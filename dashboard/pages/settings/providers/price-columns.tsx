import type { Price } from '../../../../src/client/index.ts';
import type { Column } from '../../../components/tables/data-table.tsx';

type Amounts = Omit<Price, 'updatedAt' | 'validFrom'>;

export const priceColumns: readonly Column<Amounts>[] = [
  {
    header: 'Model',
    cell: ({ model, inputPerMillion, outputPerMillion }) => (
      <>
        <code className="code">{model}</code>
        <div className="small-note narrow-only">
          ${inputPerMillion} in, ${outputPerMillion} out / M
        </div>
      </>
    ),
  },
  amount('Input', (price) => price.inputPerMillion, 'sm'),
  amount('Output', (price) => price.outputPerMillion, 'sm'),
  amount('Cache read', (price) => price.cacheReadPerMillion ?? 'Same as input', 'md'),
  amount('Cache write', (price) => price.cacheWritePerMillion ?? 'Same as input', 'md'),
];

/** Dollars per million tokens, with all digits as set. */
function amount(
  header: string,
  of: (price: Amounts) => string,
  hideBelow: 'sm' | 'md',
): Column<Amounts> {
  const cell = (price: Amounts) => (/^\d/.test(of(price)) ? `$${of(price)} / M` : of(price));
  return { header, align: 'right', cell, hideBelow };
}
