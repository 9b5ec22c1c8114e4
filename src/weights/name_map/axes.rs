/// A permutation of the axes of a tensor, some of which are merged: `[in head size -> (head size) in]`.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    /// The number of axes in the file.
    pub count: usize,
    /// For each dimension of the model, the axes of the file that it consists of.
    pub groups: Vec<Vec<usize>>,
}

impl Axes {
    pub fn identity(count: usize) -> Self {
        let groups = (0..count).map(|axis| vec![axis]).collect();
        Self { count, groups }
    }

    /// Parses the text between the brackets.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (file, model) = text.split_once("->").ok_or_else(|| format!("`[{text}]` has no `->`"))?;
        let file: Vec<_> = file.split_whitespace().collect();
        let mut groups = Vec::new();
        let mut in_group = false;
        let model = model.replace('(', " ( ").replace(')', " ) ");
        for word in model.split_whitespace() {
            match (word, in_group) {
                ("(", false) => groups.push(Vec::new()),
                ("(", true) | (")", false) => return Err(format!("`[{text}]` has nested or unmatched parentheses")),
                (")", true) => {}
                (axis, _) => {
                    let Some(axis) = file.iter().position(|&other| other == axis) else {
                        return Err(format!("`{axis}` is not on the left side of the `->`"));
                    };
                    match groups.last_mut() {
                        Some(group) if in_group => group.push(axis),
                        _ => groups.push(vec![axis]),
                    }
                }
            }
            in_group = word == "(" || in_group && word != ")";
        }
        let mut all: Vec<_> = groups.iter().flatten().copied().collect();
        all.sort_unstable();
        if in_group || all != (0..file.len()).collect::<Vec<_>>() || groups.contains(&Vec::new()) {
            return Err(format!("`[{text}]` does not have each axis exactly once on each side"));
        }
        let count = file.len();
        Ok(Self { count, groups })
    }

    /// Reorders the elements of a tensor of these sizes from the order of the file to that of the model.
    pub fn permute<E: Copy>(&self, sizes: &[usize], elements: Vec<E>) -> Vec<E> {
        let order = self.groups.iter().flatten();
        if order.clone().is_sorted() {
            return elements;
        }
        let stride = |axis: usize| sizes[axis + 1..].iter().product();
        let axes: Vec<(usize, usize)> = order.map(|&axis| (sizes[axis], stride(axis))).collect();
        let mut permuted = Vec::with_capacity(elements.len());
        collect(&elements, &axes, 0, &mut permuted);
        permuted
    }
}

/// Appends the elements from index `start` on along axes of these sizes and strides, the last axis fastest.
fn collect<E: Copy>(elements: &[E], axes: &[(usize, usize)], start: usize, collected: &mut Vec<E>) {
    match axes {
        [] => collected.push(elements[start]),
        [(size, stride)] => collected.extend((0..*size).map(|index| elements[start + index * stride])),
        [(size, stride), rest @ ..] => {
            (0..*size).for_each(|index| collect(elements, rest, start + index * stride, collected));
        }
    }
}
