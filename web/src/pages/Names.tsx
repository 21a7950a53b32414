// The private names of addresses, to view and to edit.
import { PrivateName } from '../parts/PrivateName.tsx';
import { PrivateNamesFile } from '../parts/PrivateNamesFile.tsx';
import { Address } from '../parts/Address.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { useTitle } from '../parts/title.ts';
import { checksum } from '../format/keccak.ts';
import { names, setName } from '../state/names.ts';

const columns: Column<string>[] = [
  { name: 'Name', cell: (address) => <PrivateName address={address} /> },
  { name: 'Address', cell: (address) => <Address of={{ hash: checksum(address) }} whole copy /> },
  { name: 'Remove', cell: (address) => <button type="button" class="button small" onClick={() => setName(address, '')}>Remove</button> },
];

export function Names() {
  useTitle('Private names');
  const addresses = Object.keys(names.value).toSorted((one, other) => (names.value[one] ?? '').localeCompare(names.value[other] ?? ''));
  return (
    <>
      <h1>Private names</h1>
      <p class="quiet">Names that you gave to addresses. They are stored in this browser only, and shown on every page and in the search.</p>
      <div class="tools"><PrivateNamesFile /></div>
      <Table items={addresses} columns={columns} id={(address) => address} label="Private names" empty="None yet: the page of an address has “Add private name”." />
    </>
  );
}
