//! The envelope of REST lists: `{"items": […], "next_page_params": …}`.

use super::{Array, JsonWriter, Object};

/// Writes a page. `next` fills the cursor of the following page; without it there is none.
pub fn write_page(items: impl FnOnce(&mut Array<'_>), next: Option<impl FnOnce(&mut Object<'_>)>) -> Vec<u8> {
    write_page_with(items, next, |_| {})
}

/// Writes a page that has more members.
pub fn write_page_with(
    items: impl FnOnce(&mut Array<'_>),
    next: Option<impl FnOnce(&mut Object<'_>)>,
    more: impl FnOnce(&mut Object<'_>),
) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        page.key("items").array(items);
        page.key("next_page_params").option(next, |writer, next| writer.object(next));
        more(page);
    });
    writer.into_bytes()
}
