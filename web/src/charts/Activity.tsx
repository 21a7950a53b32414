// The activity tab of an address or a token: charts over time, and counterparties.
import { isSettled } from '../api/use_api.ts';
import { CoinFlows, useCoinFlows } from './CoinFlows.tsx';
import { Counterparties, useFlows } from './Counterparties.tsx';
import { Life, useLife } from './Life.tsx';
import { PeriodChoice, usePeriod } from './PeriodChoice.tsx';

/** The activity of a contract: its events, called methods, and transfers if it is a token. */
export function ContractActivity({ hash }: { hash: string }) {
  const period = usePeriod();
  const life = useLife(hash, period);
  return (
    <>
      <div class="tools"><PeriodChoice /></div>
      <Life of={life} contract={hash} period={period} />
    </>
  );
}

/** The activity of an address: its counterparties, and its activity as a contract if it may be one. */
export function AddressActivity({ hash, isContract }: { hash: string; isContract: boolean | null }) {
  const period = usePeriod();
  const flows = useFlows(hash);
  const coins = useCoinFlows(hash);
  const life = useLife(isContract === false ? null : hash, period);
  return (
    <>
      <Counterparties of={flows} hash={hash} />
      {isSettled(flows) && <CoinFlows of={coins} hash={hash} />}
      {isContract !== false && isSettled(flows) && isSettled(coins) && (
        <>
          <div class="tools"><PeriodChoice /></div>
          <Life of={life} contract={hash} period={period} />
        </>
      )}
    </>
  );
}
