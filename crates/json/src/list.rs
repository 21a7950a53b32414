//! The envelope of REST lists: `{"items": […], "next_page_params": …}`.

use super::{Array, JsonWriter, Object};

/// Writes a page. `next` fills the cursor of the following page; without it there is none.
pub fn write_page(items: impl FnOnce(&mut Array<'_>), next: Option<impl FnOnce(&mut Object<'_>)>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        page.key("items").array(items);
        page.key("next_page_params").option(next, |writer, next| writer.object(next));
    });
    writer.into_bytes()
}
